// Counting the items of a stage for the host that watches (see progress.h).
#include "base/progress.h"

#include "base/status.h"

void progress_begin(Progress *p, const FacetProgress *host, const char *stage, long total)
{
    *p = (Progress){.host = host, .stage = stage, .total = total};
    pthread_mutex_init(&p->mutex, NULL);
    progress_add(p, 0, NULL);
}

void progress_end(Progress *p) { pthread_mutex_destroy(&p->mutex); }

// Counts and asks. The caller holds the mutex.
static void report(Progress *p, long items, const char *note)
{
    p->done += items;
    const FacetProgressEvent event = {p->stage, p->done, p->total, note};
    if (p->host && !p->stopped) p->stopped = !p->host->report(p->host->context, &event);
}

static bool go_on(Progress *p, long items, const char *note)
{
    if (!p->host) return true;
    pthread_mutex_lock(&p->mutex);
    report(p, items, note);
    bool stopped = p->stopped;
    pthread_mutex_unlock(&p->mutex);
    return !stopped;
}

FacetStatus progress_add(Progress *p, long items, const char *note)
{
    return go_on(p, items, note) ? status_ok() : status_fail(FACET_INTERRUPTED, "interrupted");
}

bool progress_stopped(Progress *p) { return !go_on(p, 0, NULL); }

static bool count_part(void *context, const FacetProgressEvent *event)
{
    Progress *p = context;
    pthread_mutex_lock(&p->mutex);
    if (event->done == 0) p->part = 0; // another part begins
    report(p, event->done - p->part, event->note);
    p->part = event->done;
    bool stopped = p->stopped;
    pthread_mutex_unlock(&p->mutex);
    return !stopped;
}

static bool ask_only(void *context, const FacetProgressEvent *event)
{
    (void)event;
    return !progress_stopped(context);
}

FacetProgress progress_part(Progress *p)
{
    p->part = 0;
    return (FacetProgress){.report = count_part, .context = p};
}

FacetProgress progress_aside(Progress *p)
{
    return (FacetProgress){.report = ask_only, .context = p};
}
