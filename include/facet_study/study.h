// All of the study: demonstrations, training, certificates, the camera and the two studies. It
// stands on the runtime, which it includes.
#ifndef FACET_STUDY_STUDY_H
#define FACET_STUDY_STUDY_H

#include <facet/facet.h>
#include <facet_study/camera.h>
#include <facet_study/certify.h>
#include <facet_study/dataset.h>
#include <facet_study/gate.h>
#include <facet_study/image_set.h>
#include <facet_study/race.h>
#include <facet_study/ranks.h>
#include <facet_study/train.h>

#endif
