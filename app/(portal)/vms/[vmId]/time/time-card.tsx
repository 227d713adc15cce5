'use client';

import { useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { InstanceDetails, Timeline } from '../vm-data.ts';
import { eventsOf } from './axis-events.ts';
import { footHeights, headHeight, laneCount, laneHeight, shownLanes } from './measures.ts';
import { domainOf, type Range, ranges } from './span.ts';
import { TimeAxis } from './time-axis.tsx';
import { TimeTable } from './time-table.tsx';
import { useMoment } from './use-event-words.ts';
import { useTimeline } from './use-timeline.ts';

/** Interval in milliseconds at which the axis moves. Each move is at most a pixel or two. */
const stepMs: Readonly<Record<Range, number>> = { '30m': 2_000, '6h': 20_000, '24h': 60_000, '7d': 60_000 };

export interface TimeCardProps {
  view: InstanceDetails;
  range: Range;
  /** Whether the machine can have units, whose hooks have a lane. */
  hasUnits: boolean;
  /** Whether to show the events as a table. */
  asTable: boolean;
}

/** The axis or its table, and notes about events that are merged or not shown. */
export function TimeCard({ view, range, hasUnits, asTable }: TimeCardProps) {
  const { t } = useTranslation('timeline');
  const timeline = useTimeline(view.vmId, range);
  const [all, setAll] = useState(false);
  const now = Number(useTicking((at) => String(Math.floor(at / stepMs[range]) * stepMs[range])));
  const lanes = lanesOf(view, timeline.data);
  const shown = all ? lanes : lanes.slice(0, shownLanes);
  // A machine that was given back by its model has run hooks, too.
  const hasHooks = hasUnits || (timeline.data?.hooks.length ?? 0) > 0;
  const deadline = deadlineOf(view, now);
  const label = useSentence(view, timeline.data, range, now, deadline);
  const rest = lanes.length - shownLanes;
  return (
    <>
      {timeline.data === undefined ? (
        timeline.error ? (
          <QueryError
            error={timeline.error}
            title={t('failed')}
            onRetry={timeline.refetch}
            at={new Date(timeline.errorUpdatedAt)}
          />
        ) : (
          <LanesSkeleton label={t('loading')} lanes={laneCount(shown.length, hasHooks)} />
        )
      ) : asTable ? (
        <TimeTable
          vm={view.name}
          events={eventsOf(
            timeline.data,
            { names: lanes.map(({ name }) => name), hasHooks },
            domainOf(range, now).from,
            now,
          )}
          now={now}
        />
      ) : (
        <TimeAxis
          vmId={view.vmId}
          timeline={timeline.data}
          range={range}
          now={now}
          extensions={shown}
          hasHooks={hasHooks}
          deadline={deadline}
          periodMs={periodOf(view)}
          label={label}
        />
      )}
      {timeline.data ? (
        <TimeFoot timeline={timeline.data} range={range} rest={asTable ? 0 : rest} all={all} onAll={setAll} />
      ) : null}
    </>
  );
}

interface TimeFootProps {
  timeline: Timeline;
  range: Range;
  /** Number of lanes that are not shown at first. */
  rest: number;
  all: boolean;
  onAll(all: boolean): void;
}

/** A button for the other lanes, and notes about events that are merged or not shown. Takes up space without them. */
function TimeFoot({ timeline, range, rest, all, onAll }: TimeFootProps) {
  const { t } = useTranslation('timeline');
  const moment = useMoment();
  const { merged, healthSince } = timeline;
  return (
    <div
      className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-1.5 text-12 text-ink-3"
      style={{ minHeight: footHeights.notes }}
    >
      {rest > 0 ? (
        <Button size="sm" variant="ghost" aria-expanded={all} onClick={() => onAll(!all)}>
          {all ? t('lanes.fewer') : t('lanes.more', { count: rest })}
        </Button>
      ) : null}
      {merged > 0 ? <MergedNote count={merged} isShortest={range === ranges[0]} isBesideButton={rest > 0} /> : null}
      {healthSince ? <span>{t('cut', { time: moment(Date.parse(healthSince)) })}</span> : null}
    </div>
  );
}

interface MergedNoteProps {
  count: number;
  isShortest: boolean;
  isBesideButton: boolean;
}

/** The note never takes more than the line that is reserved for it: on a phone, it is short or gives way to the button. */
function MergedNote({ count, isShortest, isBesideButton }: MergedNoteProps) {
  const { t } = useTranslation('timeline');
  const short = t('merged.shortest', { count });
  if (isShortest || isBesideButton) {
    return <span className={cn(isBesideButton && 'max-sm:hidden')}>{isShortest ? short : t('merged', { count })}</span>;
  }
  return (
    <>
      <span className="max-sm:hidden">{t('merged', { count })}</span>
      <span className="sm:hidden">{short}</span>
    </>
  );
}

function LanesSkeleton({ label, lanes }: { label: string; lanes: number }) {
  return (
    <div role="status" aria-busy="true" aria-label={label} className="px-4" style={{ paddingTop: headHeight }}>
      {Array.from({ length: lanes }, (_, lane) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a placeholder is identified only by its position
        <div key={lane} className="flex items-center gap-8" style={{ height: laneHeight }}>
          <Skeleton className="w-24 shrink-0" />
          <Skeleton className="w-full opacity-60" />
        </div>
      ))}
    </div>
  );
}

/** Returns the extensions that have a lane, with the status shown on their cards, followed by deleted extensions. */
function lanesOf(view: InstanceDetails, timeline: Timeline | undefined) {
  const present = view.extensions.map(({ name, health, waiting }) => ({
    name,
    status: waiting ? ('waiting' as const) : statusOfHealth[health],
  }));
  const gone = (timeline?.lanes ?? [])
    .filter(({ extension }) => !present.some(({ name }) => name === extension))
    .map(({ extension }) => ({ name: extension, status: 'disabled' as const }));
  return [...present, ...gone];
}

/** Returns the next deadline of any extension or, if there is none, the last deadline that passed. */
function deadlineOf(view: InstanceDetails, now: number): number | null {
  const all = view.extensions
    .flatMap(({ deadlineAt }) => (deadlineAt === null ? [] : [Date.parse(deadlineAt)]))
    .sort((a, b) => a - b);
  return all.find((at) => at > now) ?? all.at(-1) ?? null;
}

const usualPeriodMs = 60_000;

/**
 * Returns the shortest period between two heartbeat readings in milliseconds, but at least a second and at most a
 * minute.
 */
function periodOf(view: InstanceDetails): number {
  const periods = view.extensions.flatMap(({ heartbeat: { readAt, nextReadingAt } }) =>
    readAt === null || nextReadingAt === null ? [] : [Date.parse(nextReadingAt) - Date.parse(readAt)],
  );
  return Math.max(1_000, Math.min(usualPeriodMs, ...periods));
}

/** Returns the accessible name of the axis: a summary of its events, and how to use the keys. */
function useSentence(
  view: InstanceDetails,
  timeline: Timeline | undefined,
  range: Range,
  now: number,
  deadline: number | null,
): string {
  const { t } = useTranslation('timeline');
  const { t: reports } = useTranslation('reports');
  const format = useFormat();
  const moment = useMoment();
  const { from } = domainOf(range, now);
  const within = ({ until }: { until: string }) => Date.parse(until) >= from;
  const total = (events: readonly { count: number }[]) => events.reduce((sum, { count }) => sum + count, 0);
  const sum = (events: readonly { until: string; count: number }[] = []) => total(events.filter(within));
  const changes = sum(timeline?.configuration);
  const acts = sum(timeline?.acts);
  const ran = (timeline?.executions ?? []).filter(
    ({ state, to }) => state !== 'queued' && state !== 'waiting-approval' && (to === null || Date.parse(to) >= from),
  );
  const hooks = (timeline?.hooks ?? []).filter(({ to }) => to === null || Date.parse(to) >= from);
  const healths = [...new Set(view.extensions.map(({ health }) => health))];
  const facts = [
    ...(changes > 0 ? [t('name.changes', { count: changes })] : []),
    ...(acts > 0 ? [t('name.acts', { count: acts })] : []),
    ...(ran.length > 0 ? [t('name.executions', { count: total(ran) })] : []),
    ...(hooks.length > 0 ? [t('name.hooks', { count: total(hooks) })] : []),
    ...healths.map((health) => {
      const names = view.extensions.filter((extension) => extension.health === health).map(({ name }) => name);
      const extensions = names.length > 5 ? [...names.slice(0, 5), '…'] : names;
      return t('name.now', { extensions: format.list(extensions), state: reports(`health.${health}`) });
    }),
    ...(deadline !== null && deadline > now ? [t('name.deadline', { time: moment(deadline) })] : []),
  ];
  const summary = facts.length > 0 ? format.list(facts) : t('name.quiet');
  return `${t('name', { vm: view.name, range: t(`range.${range}`), facts: summary })} ${t('name.keys')}`;
}
