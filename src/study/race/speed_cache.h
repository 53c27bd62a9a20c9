// Speed maps kept in a folder, so that a course is searched once and not at every start.
//
// A map is kept in a text file that is named after its key, a hash of all that its search depends
// on. Numbers are written as their bits. The file ends with a hash of
// itself: one that is damaged, or another's, is as good as none.
#ifndef FACET_RACE_SPEED_CACHE_H
#define FACET_RACE_SPEED_CACHE_H

#include <facet_study/race.h>

// The key of a map: of the course's numbers, the vehicle, the controller, the search's version, and
// of where a short flight with them ends. So a program that flies otherwise has other keys.
uint64_t speed_cache_key(const FacetCourse *course, const FacetQuadModel *model,
                         const FacetControlPreset *preset);

// Reads the map of a key; false when the folder has none that is whole and of this size. The
// caller destroys the map.
bool speed_cache_read(FacetSpeedMap *map, const char *folder, uint64_t key, int tracks,
                      int openings);

// Keeps a map, making the folder if need be. A map that cannot be kept is searched again next time.
void speed_cache_write(const FacetSpeedMap *map, const char *folder, uint64_t key);

#endif
