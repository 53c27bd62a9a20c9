// Tests of courses from files: the shipped course, finding by name, and every bad input.
#include "course/course.h"
#include "flying.h"
#include "scratch.h"

static const char SHIPPED[] = TEST_SOURCE "/courses";

// ---- A good course ----------------------------------------------------------------------------

static void shipped_course(void **unused)
{
    (void)unused;
    FacetCourse *course;
    assert_ok(facet_course_load(&course, SHIPPED));
    assert_int_equal(course->track_count, 8);
    assert_int_equal(course->opening_count, 3);
    assert_int_equal(course->held_out_count, 6);
    assert_near(course->speed_min, 1.0, 0.0);
    assert_near(course->speed_max, 10.0, 0.0);
    assert_near(course->openings[1].half_width, 0.762, 0.0);
    static const int gates[8] = {8, 9, 7, 10, 5, 3, 2, 2};
    for (int i = 0; i < 8; i++) {
        const FacetTrack *track = &course->tracks[i];
        char name[16];
        snprintf(name, sizeof name, "race%d", i + 1); // in natural order
        assert_string_equal(track->name, name);
        assert_int_equal(track->gate_count, gates[i]);
        assert_true(track->point_count >= track->gate_count + 2);
        // Gates stand on the path, in its order, with unit normals along the flight.
        int next = 0;
        for (int p = 0; p < track->point_count && next < track->gate_count; p++) {
            const FacetCourseGate *gate = &track->gates[next];
            if (vec3_distance(track->points[p], gate->center) > 0.0) continue;
            assert_near(vec3_norm(gate->normal), 1.0, 1e-14);
            FacetVec3 through = vec3_sub(track->points[p + 1], track->points[p - 1]);
            assert_less(0.0, vec3_dot(gate->normal, through));
            next++;
        }
        assert_int_equal(next, track->gate_count);
    }
    facet_course_destroy(course);
    facet_course_destroy(NULL);
}

static void names_are_found(void **unused)
{
    (void)unused;
    FacetCourse *course;
    assert_ok(facet_course_load(&course, SHIPPED));
    int index;
    FacetCourseTask task;
    assert_ok(facet_course_find_track(&index, course, "race4"));
    assert_int_equal(index, 3);
    assert_ok(facet_course_find_opening(&index, course, "wide"));
    assert_int_equal(index, 2);
    assert_ok(facet_course_find_task(&task, course, "race4/standard"));
    assert_int_equal(task.track, 3);
    assert_int_equal(task.opening, 1);
    assert_true(facet_course_is_held_out(course, task));
    assert_false(facet_course_is_held_out(course, (FacetCourseTask){3, 2}));

    assert_refused(facet_course_find_track(&index, course, "rcae4"),
                   "no track 'rcae4', did you mean");
    assert_refused(facet_course_find_track(&index, course, "race9"), "race1, race2, race3");
    assert_refused(facet_course_find_track(&index, course, ""), "no track ''");
    assert_refused(facet_course_find_opening(&index, course, "widd"), "did you mean 'wide'?");
    assert_refused(facet_course_find_opening(&index, course, "gigantic"), "narrow, standard, wide");
    assert_refused(facet_course_find_task(&task, course, "race4"),
                   "TRACK/OPENING such as race1/narrow");
    assert_refused(facet_course_find_task(&task, course, "race4/wid"), "did you mean 'wide'?");
    assert_refused(facet_course_find_task(&task, course, "race/wide"), "no track 'race'");
    assert_refused(facet_course_find_task(&task, course, "/"), "no track ''");
    assert_refused(facet_course_find_task(&task, course, "race4/wide/"), "no opening 'wide/'");
    char longer[300];
    memset(longer, 'a', sizeof longer);
    memcpy(longer + 290, "/wide", 6);
    assert_refused(facet_course_find_task(&task, course, longer), "TRACK/OPENING");
    assert_refused(facet_course_find_track(&index, course, "ra\nce"), "no track 'ra");
    facet_course_destroy(course);
}

// ---- Courses of a user's own --------------------------------------------------------------------

static const char GOOD_COURSE[] =
    "{\n"
    "  \"arena\": {\"min\": [-10, -8, 0], \"max\": [10, 8, 5]},\n"
    "  \"speeds\": {\"min\": 1, \"max\": 8},\n"
    "  \"openings\": [{\"name\": \"small\", \"half_width\": 0.4},\n"
    "               {\"name\": \"large\", \"half_width\": 0.9}],\n"
    "  \"gates\": [{\"name\": \"left\", \"center\": [-4, 0, 2], \"normal\": [2, 0, 0]},\n"
    "            {\"name\": \"right\", \"center\": [4, 1, 2], \"normal\": [1, 1, 0]}],\n"
    "  \"held_out\": [\"line/small\"]\n"
    "}\n";
static const char GOOD_TRACK[] =
    "{\n"
    "  \"name\": \"line\",\n"
    "  \"description\": \"There and on\",\n"
    "  \"path\": [[-8, 0, 2], \"left\", [0, 2, 2], \"-right\", [8, 0, 2]]\n"
    "}\n";

// A course whose two files have one text replaced each (NULL for none).
static FacetStatus load_changed(const char *from, const char *to)
{
    char course_text[2048], track_text[2048];
    snprintf(course_text, sizeof course_text, "%s", GOOD_COURSE);
    snprintf(track_text, sizeof track_text, "%s", GOOD_TRACK);
    if (from) {
        bool in_course = strstr(GOOD_COURSE, from);
        const char *text = in_course ? GOOD_COURSE : GOOD_TRACK, *found = strstr(text, from);
        if (!found) fail_msg("the test's own text has no '%s'", from);
        snprintf(in_course ? course_text : track_text, 2048, "%.*s%s%s", (int)(found - text), text,
                 to, found + strlen(from));
    }
    Scratch scratch = scratch_begin();
    scratch_write(&scratch, "course.json", course_text);
    scratch_write(&scratch, "line.json", track_text);
    scratch_write(&scratch, "notes.txt", "not a track");
    scratch_write(&scratch, ".hidden.json", "not a track either");
    FacetCourse *course;
    FacetStatus status = facet_course_load(&course, scratch.folder);
    if (!status.ok) assert_null(course);
    facet_course_destroy(course);
    scratch_end(&scratch);
    return status;
}

static void own_course(void **unused)
{
    (void)unused;
    assert_ok(load_changed(NULL, NULL));
    Scratch scratch = scratch_begin();
    scratch_write(&scratch, "course.json", GOOD_COURSE);
    scratch_write(&scratch, "line.json", GOOD_TRACK);
    FacetCourse *course;
    assert_ok(facet_course_load(&course, scratch.folder));
    const FacetTrack *track = &course->tracks[0];
    assert_int_equal(track->point_count, 5);
    assert_int_equal(track->gate_count, 2);
    assert_string_equal(track->description, "There and on");
    assert_vec3_near(track->gates[0].normal, vec3(1, 0, 0), 1e-15);                   // made unit
    assert_vec3_near(track->gates[1].normal, vec3(-sqrt(0.5), -sqrt(0.5), 0), 1e-15); // reversed
    assert_vec3_near(track->points[3], vec3(4, 1, 2), 0.0);
    // One more track against the same gates; its name must be new.
    FacetTrack more;
    assert_refused(track_load(&more, scratch_path(&scratch, "line.json"), course),
                   "name: expected a name that no other element has, found \"line\"");
    assert_ok(track_load(&more,
                         scratch_write(&scratch, "more.json",
                                       "{\"name\": \"more\", \"description\": \"d\", \"path\":"
                                       "[[8,0,2], \"right\", \"-left\", [-8,0,2]]}"),
                         course));
    assert_string_equal(more.name, "more");
    facet_course_destroy(course);
    scratch_end(&scratch);
}

// Each line: what is replaced, by what, the file and the words the message must have.
static void bad_courses(void **unused)
{
    (void)unused;
    static const struct {
        const char *from, *to, *file, *words;
    } cases[] = {
        // Text
        {"\"speeds\"", "speeds", "course.json", "line 3: expected valid JSON, found '"},
        {"\"max\": 8}", "\"max\": NaN}", "course.json", "line 3: expected valid JSON"},
        {"\"held_out\": [\"line/small\"]\n}", "", "course.json",
         "expected valid JSON, found the end"},
        {"\"path\": [[", "\"path\": [NaN, [", "line.json", "line 4: expected valid JSON"},
        // Arena and speeds
        {"\"arena\"", "\"areena\"", "course.json", "no field 'areena', did you mean 'arena'?"},
        {"[10, 8, 5]", "[10, 8]", "course.json", "arena.max: expected three numbers [x, y, z]"},
        {"[10, 8, 5]", "[10, 8, -5]", "course.json",
         "arena.max: expected more than 1 m above 'min' along every axis"},
        {"[10, 8, 5]", "[10, 8, 1e999]", "course.json",
         "arena.max[2]: expected a finite number, found inf"},
        {"\"max\": [10, 8, 5]", "\"top\": [10, 8, 5]", "course.json", "arena: no field 'top'"},
        {", \"max\": [10, 8, 5]", "", "course.json", "arena.max: expected a value, found nothing"},
        {"\"max\": 8}", "\"max\": 0.5}", "course.json",
         "speeds.max: expected a number above 'min', found 0.5"},
        {"\"max\": 8}", "\"max\": 1e999}", "course.json",
         "speeds.max: expected a number from 0.1 to 100, found inf"},
        {"{\"min\": 1, \"max\": 8}", "[1, 8]", "course.json", "speeds: expected an object"},
        // Openings
        {"0.9", "-0.9", "course.json",
         "openings[1].half_width: expected a number from 0.01 to 100, found -0.9"},
        {"0.9", "0", "course.json", "openings[1].half_width: expected a number from 0.01"},
        {"0.9", "\"wide\"", "course.json", "openings[1].half_width: expected a number"},
        {", \"half_width\": 0.9", "", "course.json", "openings[1].half_width: expected a value"},
        {"\"large\"", "\"small\"", "course.json",
         "openings[1].name: expected a name that no other element has, found \"small\""},
        {"\"large\"", "\"la/rge\"", "course.json", "openings[1].name: expected a name without '/'"},
        {"\"large\"", "\"\"", "course.json", "openings[1].name: expected a text of 1 to 31 bytes"},
        {"\"large\"", "\"la rge\"", "course.json", "openings[1].name: expected a name without"},
        {"\"large\"", "\"a_name_of_forty_letters_in_one_long_word\"", "course.json",
         "openings[1].name: expected a text of 1 to 31 bytes"},
        {"\"large\"", "7", "course.json", "openings[1].name: expected a text of 1 to 31 bytes"},
        {"[{\"name\": \"small\", \"half_width\": 0.4},\n               {\"name\": \"large\", "
         "\"half_width\": 0.9}]",
         "[]", "course.json", "openings: expected at least one element, found an array of 0"},
        {"[{\"name\": \"small\", \"half_width\": 0.4},\n               {\"name\": \"large\", "
         "\"half_width\": 0.9}]",
         "{\"small\": {\"name\": \"small\", \"half_width\": 0.4}}", "course.json",
         "openings: expected an array, found an object"},
        // Gates
        {"\"normal\": [2, 0, 0]", "\"normal\": [0, 0, 0]", "course.json",
         "gates[0].normal: expected a direction"},
        {"\"normal\": [2, 0, 0]", "\"normal\": [1e200, 1e200, 0]", "course.json",
         "gates[0].normal: expected a direction"},
        {"\"normal\": [2, 0, 0]", "\"normal\": [1e999, 0, 0]", "course.json",
         "gates[0].normal[0]: expected a finite number, found inf"},
        {", \"normal\": [2, 0, 0]", "", "course.json", "gates[0].normal: expected a value"},
        {"\"normal\": [2", "\"normall\": [2", "course.json",
         "gates[0]: no field 'normall', did you mean 'normal'?"},
        {"[4, 1, 2]", "[-4, 0, 2.05]", "course.json",
         "gates[1]: expected gates at least 0.1 m apart, found it at the place of 'left'"},
        {"[4, 1, 2]", "[-4, 0, 2]", "course.json", "gates[1]: expected gates at least 0.1 m apart"},
        {"[4, 1, 2]", "[4, 1, 99]", "course.json", "gates[1].center: expected a point inside"},
        {"[4, 1, 2]", "[4, 1, 0.1]", "course.json", "gates[1].center: expected a point inside"},
        {"[4, 1, 2]", "[4, null, 2]", "course.json",
         "gates[1].center[1]: expected a finite number, found null"},
        {"[4, 1, 2]", "[4, 1, 2, 3]", "course.json", "gates[1].center: expected three numbers"},
        {"\"right\"", "\"left\"", "course.json", "gates[1].name: expected a name that no other"},
        {"\"right\"", "\"-right\"", "course.json", "gates[1].name: expected a name without"},
        {"\"right\"", "\"ri\\nght\"", "course.json", "gates[1].name: expected a name without"},
        // Held-out pairs
        {"\"line/small\"", "\"line/smal\"", "course.json",
         "held_out[0]: no opening 'smal', did you mean 'small'?"},
        {"\"line/small\"", "\"lime/small\"", "course.json",
         "held_out[0]: no track 'lime', did you mean 'line'?"},
        {"\"line/small\"", "3", "course.json", "held_out[0]: expected a text"},
        {"[\"line/small\"]", "\"line/small\"", "course.json", "held_out: expected an array"},
        // Tracks
        {"\"left\", [0", "\"lefft\", [0", "line.json",
         "path[1]: no gate 'lefft', did you mean 'left'?"},
        {"\"-right\"", "\"-rihgt\"", "line.json",
         "path[3]: no gate 'rihgt', did you mean 'right'?"},
        {"\"left\", [0", "[-5, 1, 2], [0", "line.json", "path: expected a path with at least 2"},
        {", [0, 2, 2], \"-right\"", "", "line.json", "path: expected 4 to 64 entries"},
        {"[0, 2, 2], \"-right\"", "\"left\", \"-right\"", "line.json",
         "path[2]: expected a place at least 0.1 m from the one before it"},
        {"[0, 2, 2]", "[0, 2, 99]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[-9.9, 2, 2]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[9.9, 2, 2]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[0, -7.9, 2]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[0, 7.9, 2]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[0, 2, 0.1]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[0, 2, 4.9]", "line.json", "path[2]: expected a point inside the arena"},
        {"[0, 2, 2]", "[0, 2]", "line.json", "path[2]: expected three numbers [x, y, z]"},
        {"[0, 2, 2]", "[0, 1e999, 2]", "line.json", "path[2][1]: expected a finite number"},
        {"[0, 2, 2]", "true", "line.json", "path[2]: expected a text"},
        {"[-8, 0, 2], ", "\"right\", ", "line.json", "path[0]: expected three numbers"},
        {"\"path\"", "\"paths\"", "line.json", "no field 'paths', did you mean 'path'?"},
        {"\"There and on\"", "\"\"", "line.json", "description: expected a text of 1 to 79 bytes"},
        {"  \"description\": \"There and on\",\n", "", "line.json",
         "description: expected a value"},
        {"\"line\",", "\"a/b\",", "line.json", "name: expected a name without '/'"},
        {"[[-8, 0, 2], \"left\", [0, 2, 2], \"-right\", [8, 0, 2]]",
         "{\"a\": [-8, 0, 2], \"b\": \"left\", \"c\": \"-right\", \"d\": [8, 0, 2]}", "line.json",
         "path: expected an array, found an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetStatus status = load_changed(cases[i].from, cases[i].to);
        if (status.ok || !strstr(status.text, cases[i].words) ||
            !strstr(status.text, cases[i].file) || strchr(status.text, '\n')) {
            print_error("'%s' for '%s' said \"%s\", expected a line about %s with \"%s\"\n",
                        cases[i].to, cases[i].from, status.ok ? "ok" : status.text, cases[i].file,
                        cases[i].words);
            fail();
        }
    }
}

static void bad_folders(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    FacetCourse *course;
    assert_refused(facet_course_load(&course, scratch.folder),
                   "course.json: cannot open: No such file");
    scratch_write(&scratch, "course.json", GOOD_COURSE);
    assert_refused(facet_course_load(&course, scratch.folder), "expected tracks, found none");
    assert_null(course);
    assert_refused(facet_course_load(&course, "no-such-folder"),
                   "no-such-folder/course.json: cannot open");
    // Two files with the same track.
    scratch_write(&scratch, "line.json", GOOD_TRACK);
    scratch_write(&scratch, "other.json", GOOD_TRACK);
    assert_refused(facet_course_load(&course, scratch.folder),
                   "other.json: name: expected a name that no other element has, found \"line\"");
    scratch_end(&scratch);
    // A name so long that it would be cut, and one that just fits and does not exist.
    char longer[1200];
    memset(longer, 'a', sizeof longer);
    longer[1100] = '\0';
    assert_refused(facet_course_load(&course, longer), "name too long");
    longer[701] = '\0';
    assert_refused(facet_course_load(&course, longer), "name too long");
}

// More gates and points than a track holds.
static void tracks_that_are_too_long(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    scratch_write(&scratch, "course.json", GOOD_COURSE);
    const int pairs[3] = {16, 17, 40}; // of gates: 32, 34 and 80
    static const char *const words[3] = {NULL, "path[33]: expected at most 32 gates",
                                         "path: expected 4 to 64 entries"};
    for (int k = 0; k < 3; k++) {
        char text[4096];
        size_t used = (size_t)snprintf(
            text, sizeof text, "{\"name\": \"line\", \"description\": \"d\", \"path\": [[0, 5, 2]");
        for (int i = 0; i < pairs[k]; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, ", \"left\", \"right\"");
        snprintf(text + used, sizeof text - used, ", [0, -5, 2]]}");
        scratch_write(&scratch, "line.json", text);
        FacetCourse *course;
        if (words[k])
            assert_refused(facet_course_load(&course, scratch.folder), words[k]);
        else
            assert_ok(facet_course_load(&course, scratch.folder));
        facet_course_destroy(course);
    }
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_course), cmocka_unit_test(names_are_found),
        cmocka_unit_test(own_course),     cmocka_unit_test(bad_courses),
        cmocka_unit_test(bad_folders),    cmocka_unit_test(tracks_that_are_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
