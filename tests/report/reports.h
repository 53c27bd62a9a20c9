// What the tests of reports share: a race on the small course, results as a file would hold them,
// and ways to look into a document.
#ifndef FACET_TESTS_REPORT_REPORTS_H
#define FACET_TESTS_REPORT_REPORTS_H

#include "pools.h"
#include "report/report.h"
#include "scratch.h"

#include <stdlib.h>

static inline FacetRace *open_race(const char *courses, int threads)
{
    const FacetRaceOptions options = {.courses = courses};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(threads), NULL));
    return race;
}

#define SMALL_COURSE TEST_SOURCE "/tests/race/sample"

static inline Report *open_report(const FacetRace *race, const char *eval, const char *certify)
{
    const ReportSetup setup = {.files = {[INPUT_EVAL] = eval, [INPUT_CERTIFY] = certify},
                               .no_defaults = true,
                               .version = "1.2.3",
                               .command = "facet report",
                               .seed = 1};
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    assert_ok(report_fly_files(report));
    return report;
}

// Writes the expert's plan of every feasible task, moved aside by `off` (m), as {"task": plan}.
static inline void put_plans(FILE *out, const FacetRace *race, double off)
{
    FacetCourseTask *tasks = calloc((size_t)facet_race_task_max(race), sizeof *tasks);
    assert_non_null(tasks);
    int count = facet_race_feasible_tasks(tasks, race);
    FacetPlanner expert = facet_race_expert();
    for (int i = 0; i < count; i++) {
        FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
        assert_ok(expert.plan(plan, race, tasks[i], 1, NULL));
        fprintf(out, "%s\"%s/%s\":[", i ? "," : "", race->course->tracks[tasks[i].track].name,
                race->course->openings[tasks[i].opening].name);
        for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++)
            fprintf(out, "%s[%.9g,%.9g,%.9g,%.9g]", k ? "," : "", plan[k].pos.x,
                    plan[k].pos.y + off, plan[k].pos.z, plan[k].speed);
        fputc(']', out);
    }
    free(tasks);
}

// The task of an evaluation: straight/large of the small course, or the first one of another.
static inline FacetCourseTask eval_task(const FacetRace *race)
{
    FacetCourseTask task, *tasks = calloc((size_t)facet_race_task_max(race), sizeof *tasks);
    assert_non_null(tasks);
    facet_race_feasible_tasks(tasks, race);
    if (!facet_course_find_task(&task, race->course, "straight/large").ok) task = tasks[0];
    free(tasks);
    return task;
}

// An evaluation of one task with these methods; `extra` is put among its members.
static inline char *write_eval(Scratch *scratch, const char *name, const FacetRace *race,
                               const char *const *methods, int count, const char *extra)
{
    char *path = strdup(scratch_path(scratch, name));
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    FacetCourseTask task = eval_task(race);
    const FacetTrack *track = &race->course->tracks[task.track];
    fprintf(out,
            "{\"steps\":50,\"command\":\"facet eval --seeds 3\",\"seed\":1,\"version\":"
            "\"0.9\",%s\"methods\":{",
            extra);
    for (int m = 0; m < count; m++)
        fprintf(out,
                "%s\"%s\":{\"all\":{\"passed\":%d,\"gates\":10,\"low\":0.4,\"high\":0.9},"
                "\"training\":{\"passed\":%d,\"gates\":8,\"low\":0.4,\"high\":0.9},\"held_out\":"
                "{\"passed\":1,\"gates\":2,\"low\":0.1,\"high\":0.9},\"crashes\":%d,\"error_m\":"
                "0.25,\"seeds\":3,\"all_seeds\":{\"all\":{\"passed\":20,\"gates\":30,\"low\":0.5,"
                "\"high\":0.8},\"training\":{\"passed\":17,\"gates\":24},\"held_out\":{\"passed\":"
                "3,\"gates\":6,\"low\":0.2,\"high\":0.8},\"crashes\":0},\"tasks\":[{\"track\":"
                "\"%s\",\"size\":\"%s\",\"held_out\":true,\"gates\":%d,\"passed\":1,"
                "\"share_all_seeds\":0.5,\"share_std\":0.125,\"speed_generated\":3.5,"
                "\"speed_reference\":%g,\"error_m\":0.1}]}",
                m ? "," : "", methods[m], 6 + m, 5 + m, m, track->name,
                race->course->openings[task.opening].name, track->gate_count,
                facet_race_reference_speed(race, task));
    fputs("},\"ddim_sweep\":[{\"method\":\"ours\",\"steps\":10,\"composed\":{\"all\":{\"passed\":8,"
          "\"gates\":10},\"held_out\":{\"passed\":1,\"gates\":2}},\"joint\":{\"all\":{\"passed\":9,"
          "\"gates\":10}}},{\"method\":\"ours\",\"steps\":50,\"composed\":{\"all\":{\"passed\":9,"
          "\"gates\":10},\"held_out\":{\"passed\":2,\"gates\":2}},\"joint\":{\"all\":{\"passed\":7,"
          "\"gates\":10}}}],\"heldout\":[],\"plans\":{",
          out);
    for (int m = 0; m < count; m++) {
        fprintf(out, "%s\"%s\":{", m ? "," : "", methods[m]);
        put_plans(out, race, 0.05 * (m + 1));
        fputc('}', out);
    }
    fputs("}}", out);
    assert_int_equal(fclose(out), 0);
    return path;
}

static const char *const all_methods[] = {"baseline",       "knet",          "factored_composed",
                                          "factored_joint", "ours_composed", "ours_joint",
                                          "oracle"};

// ---- Looking into a document --------------------------------------------------------------------

// The document as a reader of the page gets it.
static inline Json *read_again(const Json *document)
{
    char *text = json_line(document);
    Json *again;
    assert_ok(json_parse(&again, text, "document"));
    free(text);
    return again;
}

// The entry of a list of the document with this id; fails the test when there is none.
static inline JsonRef entry_of(const Json *document, const char *list_name, const char *id)
{
    JsonRef root = json_root(document, "document"), list, entry, name;
    int count;
    assert_ok(json_member(&list, &root, list_name));
    assert_ok(json_length(&count, &list));
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&entry, &list, i));
        if (json_has(&entry, "id")) {
            assert_ok(json_member(&name, &entry, "id"));
            if (strcmp(json_chars(&name), id) == 0) return entry;
        }
    }
    fail_msg("no '%s' in %s", id, list_name);
    return entry;
}

static inline int length_of(const JsonRef *object, const char *key)
{
    JsonRef list;
    int count;
    assert_ok(json_member(&list, object, key));
    assert_ok(json_length(&count, &list));
    return count;
}

static inline const char *chars_of(const JsonRef *object, const char *key)
{
    JsonRef member;
    assert_ok(json_member(&member, object, key));
    const char *text = json_chars(&member);
    assert_non_null(text);
    return text;
}

// The column of a table by its name.
static inline int column_of(const JsonRef *table, const char *name)
{
    JsonRef columns, column;
    assert_ok(json_member(&columns, table, "columns"));
    for (int i = 0; i < length_of(table, "columns"); i++) {
        assert_ok(json_element(&column, &columns, i));
        if (strcmp(chars_of(&column, "name"), name) == 0) return i;
    }
    fail_msg("no column '%s'", name);
    return -1;
}

static inline JsonRef cell_of(const JsonRef *table, int row, const char *column)
{
    JsonRef rows, line, cell;
    assert_ok(json_member(&rows, table, "rows"));
    assert_ok(json_element(&line, &rows, row));
    assert_ok(json_element(&cell, &line, column_of(table, column)));
    return cell;
}

static inline double number_in(const JsonRef *table, int row, const char *column)
{
    JsonRef cell = cell_of(table, row, column);
    double value;
    assert_ok(json_number(&value, &cell, -1e9, 1e9));
    return value;
}

static inline void assert_text_in(const JsonRef *table, int row, const char *column,
                                  const char *text)
{
    JsonRef cell = cell_of(table, row, column);
    assert_non_null(json_chars(&cell));
    assert_string_equal(json_chars(&cell), text);
}

static inline void assert_empty(const JsonRef *table, int row, const char *column)
{
    JsonRef cell = cell_of(table, row, column);
    double value;
    assert_null(json_chars(&cell));
    assert_false(json_number(&value, &cell, -INFINITY, INFINITY).ok);
}

// The document of a report with files of these kinds, NULL for none.
static inline Json *document_of_files(const FacetRace *race, const char *files[INPUT_KINDS])
{
    ReportSetup setup = {.no_defaults = true, .version = "1.2.3", .command = "facet report"};
    for (int i = 0; i < INPUT_KINDS; i++) setup.files[i] = files[i];
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    assert_ok(report_fly_files(report));
    Json *made = report_document(report), *document = read_again(made);
    json_free(made);
    report_close(report);
    return document;
}

// Fails the test unless the document says exactly this, after the file's name.
static inline void assert_message(const Json *document, const char *file, const char *said)
{
    JsonRef root = json_root(document, "document"), messages, message;
    assert_ok(json_member(&messages, &root, "messages"));
    char all[2048] = "";
    for (int i = 0; i < length_of(&root, "messages"); i++) {
        assert_ok(json_element(&message, &messages, i));
        const char *text = json_chars(&message);
        if (strncmp(text, file, strlen(file)) == 0 && strcmp(text + strlen(file), said) == 0)
            return;
        snprintf(all + strlen(all), sizeof all - strlen(all), "\n  %.300s", text);
    }
    fail_msg("no message says '%s%s', but:%s", file, said, all);
}

static inline int count_in(const char *svg, const char *words)
{
    int count = 0;
    for (; (svg = strstr(svg, words)); svg++) count++;
    return count;
}

#endif
