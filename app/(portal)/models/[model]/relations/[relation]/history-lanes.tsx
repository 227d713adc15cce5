'use client';

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { drawnEvents, lanesOf, placeOf, timeMarks } from '../lanes.ts';
import type { RelationEvent } from '../relation-data.ts';
import { EventMark } from './event-mark.tsx';

export interface HistoryLanesProps {
  /** Newest first. */
  events: readonly RelationEvent[];
  range: { from: number; to: number };
  current: number;
  onMove(clock: number): void;
}

/** A round thumb on the line of the clock, in all browsers. */
const slider = [
  'absolute inset-0 m-0 w-full cursor-ew-resize appearance-none rounded-sm bg-transparent focus-visible:shadow-focus',
  '[&::-webkit-slider-thumb]:size-4 [&::-webkit-slider-thumb]:appearance-none [&::-webkit-slider-thumb]:rounded-full [&::-webkit-slider-thumb]:bg-brand',
  '[&::-moz-range-thumb]:size-4 [&::-moz-range-thumb]:rounded-full [&::-moz-range-thumb]:border-0 [&::-moz-range-thumb]:bg-brand',
].join(' ');

const laneClass = 'grid grid-cols-[6.5rem_minmax(0,1fr)] items-center gap-x-3 max-sm:grid-cols-[minmax(0,1fr)]';

/** The slider over the clock, and below it a lane for each unit with what happened to it. */
export function HistoryLanes({ events, range, current, onMove }: HistoryLanesProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const lanes = useMemo(() => lanesOf(events), [events]);
  const marks = useMemo(() => timeMarks(events, range, 0.12), [events, range]);
  const at = placeOf(current, range);
  return (
    <div className="relative px-4 pb-2">
      <div className={laneClass}>
        <span className="max-sm:hidden" />
        <div className="relative mx-2 h-5 text-11 text-ink-3 tabular-nums" aria-hidden>
          {marks.map(({ clock, at: time, place }) => (
            <span
              key={clock}
              className={cn(
                'absolute border-line whitespace-nowrap max-sm:nth-[even]:hidden',
                place > lastPlace ? 'border-e pe-1.5' : 'border-s ps-1.5',
              )}
              style={
                place > lastPlace
                  ? { insetInlineEnd: `${(1 - place) * 100}%` }
                  : { insetInlineStart: `${place * 100}%` }
              }
            >
              {timeLabel(format, time)}
            </span>
          ))}
        </div>
      </div>
      <div className={laneClass}>
        <span className="max-sm:hidden" />
        <Slider {...{ events, range, current, onMove }} />
      </div>
      {lanes.map(({ unit, events: own }) => (
        <div key={unit ?? ''} className={laneClass}>
          <span translate={unit === null ? undefined : 'no'} className="truncate text-12 text-ink-2 max-sm:hidden">
            {unit ?? t('relation.history.all')}
          </span>
          <div className="relative mx-2 h-5 border-b border-line-subtle max-sm:mt-4 max-sm:mb-1">
            {unit === null ? null : (
              <span translate="no" className="absolute -top-4 text-11 text-ink-3 sm:hidden">
                {unit}
              </span>
            )}
            <span
              aria-hidden
              className="absolute inset-y-0 end-0 bg-sunken opacity-60"
              style={{ insetInlineStart: `${at * 100}%` }}
            />
            {drawnEvents(own, range).map((event) => (
              <Mark
                key={event.clock}
                event={event}
                place={placeOf(event.clock, range)}
                isPast={event.clock <= current}
                onMove={onMove}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

/** The slider, whose spoken value is the event that it is at. */
function Slider({ events, range, current, onMove }: HistoryLanesProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const shown = events.find(({ clock }) => clock <= current);
  const at = placeOf(current, range);
  return (
    <div className="relative h-5">
      <span aria-hidden className="absolute inset-x-2 top-[9px] h-0.5 rounded-full bg-line">
        <span className="block h-full rounded-full bg-brand" style={{ width: `${at * 100}%` }} />
      </span>
      <input
        type="range"
        // The browser draws a slider with one value at its start, but the event is at the end of its lane.
        min={range.from === range.to ? range.from - 1 : range.from}
        max={range.to}
        step={1}
        value={current}
        disabled={range.from === range.to}
        aria-label={t('relation.history.slider')}
        aria-valuetext={
          shown === undefined
            ? undefined
            : t('relation.history.value', {
                ...{ clock: format.number(current), time: format.dateTime(new Date(shown.at), 'short') },
                ...{ unit: shown.unit, what: t(`relation.event.${shown.kind}`) },
              })
        }
        onChange={(event) => onMove(Number(event.target.value))}
        className={slider}
      />
    </div>
  );
}

interface MarkProps {
  event: RelationEvent;
  place: number;
  isPast: boolean;
  onMove(clock: number): void;
}

function Mark({ event, place, isPast, onMove }: MarkProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const { clock, kind, unit, at, changes } = event;
  const what = kind === 'changed' ? changes.map(({ key }) => key).join(', ') : t(`relation.event.${kind}`);
  return (
    <svg
      viewBox="-8 -8 16 16"
      aria-hidden
      onClick={() => onMove(clock)}
      className="absolute top-0.5 size-4 -translate-x-1/2 cursor-pointer rtl:translate-x-1/2"
      style={{ insetInlineStart: `${place * 100}%`, opacity: isPast ? 1 : 0.35 }}
    >
      <title>{`${format.number(clock)} · ${unit} · ${what} · ${format.dateTime(new Date(at), 'short')}`}</title>
      <EventMark kind={kind} />
    </svg>
  );
}

const dayMs = 86_400_000;

/** Times after this place are written before their line, because there is no room behind it. */
const lastPlace = 0.9;

/** Within the last day, a time is shown without its date. */
function timeLabel(format: ReturnType<typeof useFormat>, at: string): string {
  const time = new Date(at);
  return format.dateTime(time, Date.now() - time.getTime() < dayMs / 2 ? 'clock' : 'day');
}
