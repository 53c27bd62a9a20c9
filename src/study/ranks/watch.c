// Progress over ranks (see ranks/watch.h).
#include "ranks/watch.h"

#include "base/status.h"

static bool ask(const RanksWatch *watch, const FacetProgressEvent *event)
{
    return !watch->host || watch->host->report(watch->host->context, event);
}

static void take_told(RanksWatch *watch)
{
    int64_t items;
    while (ranks_told(watch->ranks, watch->topic, &items, false)) watch->others += items;
}

static bool report(void *context, const FacetProgressEvent *event)
{
    RanksWatch *watch = context;
    long news = event->done - watch->own;
    watch->own = event->done;
    watch->last = *event;
    if (ranks_lead(watch->ranks))
        take_told(watch);
    else if (news > 0)
        ranks_tell(watch->ranks, watch->topic, news);
    watch->last.done += watch->others;
    return ask(watch, &watch->last);
}

void ranks_watch_begin(RanksWatch *watch, FacetRanks *ranks, const FacetProgress *host)
{
    *watch = (RanksWatch){.progress = {.report = report, .context = watch},
                          .ranks = ranks,
                          .host = host,
                          .topic = ranks ? ranks->watches++ : 0};
}

// Each rank says how many items it had, so that rank 0 takes all that are on their way.
void ranks_watch_end(RanksWatch *watch)
{
    FacetRanks *ranks = watch->ranks;
    int64_t expected = 0, items;
    for (int r = 1; r < facet_ranks_count(ranks); r++) {
        items = watch->own;
        ranks_broadcast(ranks, r, &items, sizeof items);
        expected += items;
    }
    if (!ranks || !ranks_lead(ranks)) return;
    while (watch->others < expected)
        if (ranks_told(ranks, watch->topic, &items, true)) watch->others += items;
    if (!watch->last.stage) return;
    watch->last.done = watch->own + watch->others;
    ask(watch, &watch->last);
}
