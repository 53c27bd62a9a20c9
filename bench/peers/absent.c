// Stands for the CUDA libraries that PyTorch is linked with and never calls on a machine without a
// GPU. Functions are looked for when they are called, data when the library is loaded: this is all
// the data there is.
int nvshmem_selected_device_transport;
