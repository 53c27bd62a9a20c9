# The runtime for the page's live tab: one .wasm, without threads, files or libcjson (cmake --preset
# wasm). Vectors of 16 bytes, and no fused multiplication: WebAssembly has none.
set(wasm ${CMAKE_CURRENT_SOURCE_DIR}/web/wasm)
list(FILTER FACET_RUNTIME_SOURCES EXCLUDE REGEX "/base/(file|lock|shipped)\\.c$")
add_executable(facet_wasm ${FACET_RUNTIME_SOURCES}
  ${wasm}/live.c ${wasm}/memory_file.c ${wasm}/cjson/cJSON.c)
set_target_properties(facet_wasm PROPERTIES OUTPUT_NAME facet SUFFIX .wasm)
target_include_directories(facet_wasm PRIVATE include src/runtime ${wasm})
target_compile_options(facet_wasm PRIVATE -msimd128 -ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=)
target_link_libraries(facet_wasm PRIVATE facet_flags)
target_link_options(facet_wasm PRIVATE --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH
  -sTOTAL_STACK=1MB -sMALLOC=emmalloc)
