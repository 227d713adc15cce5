'use client';

import { Boxes, CirclePlay, HeartPulse, Settings2, User } from 'lucide-react';
import { type ReactNode, useId, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import type { Timeline } from '../vm-data.ts';
import { type AxisEvent, eventsOf, laneOf, ticksOf } from './axis-events.ts';
import { AxisFrame } from './axis-frame.tsx';
import { EventMark } from './event-mark.tsx';
import { HatchingDefs, HeartbeatTick, hatchingsOf } from './event-shape.tsx';
import { headHeight, type Lanes, laneCount, laneHeight } from './measures.ts';
import { type Range, spans } from './span.ts';
import { TimeTip } from './time-tip.tsx';
import { type EventCursor, useEventCursor } from './use-event-cursor.ts';
import { actWords, useEventWords } from './use-event-words.ts';
import { type Scale, useScale } from './use-scale.ts';

export interface TimeAxisProps {
  vmId: string;
  timeline: Timeline;
  range: Range;
  now: number;
  /** The extensions that have a lane, in order, with their current status. */
  extensions: readonly { name: string; status: StatusName }[];
  hasHooks: boolean;
  deadline: number | null;
  /** Milliseconds between two heartbeat readings. */
  periodMs: number;
  /** A sentence that describes the axis. */
  label: string;
}

/** The axis: lanes of events, a line for the current time, and the next or the last deadline. */
export function TimeAxis(props: TimeAxisProps) {
  const { timeline, range, now, extensions, hasHooks, deadline, label } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const scale = useScale(box, range, now);
  const { width, xOf, from } = scale;
  const lanes = { names: extensions.map(({ name }) => name), hasHooks };
  const events = eventsOf(timeline, lanes, from, now);
  const height = headHeight + laneCount(extensions.length, hasHooks) * laneHeight;
  const cursor = useEventCursor({ vmId: props.vmId, events, lanes, box });
  const { active } = cursor;
  return (
    <div className="grid grid-cols-[132px_minmax(0,1fr)] px-4 max-sm:grid-cols-[92px_minmax(0,1fr)]">
      <LaneLabels extensions={extensions} hasHooks={hasHooks} />
      {/* Time runs from left to right in every language. */}
      <div ref={box} dir="ltr" className="relative min-w-0" style={{ height }}>
        {width === 0 ? null : (
          // biome-ignore lint/a11y/useSemanticElements: an SVG cannot contain a fieldset
          <svg
            role="group"
            aria-label={label}
            width={width}
            height={height}
            className="block max-w-full"
            onPointerLeave={() => cursor.point(null)}
          >
            <HatchingDefs ids={hatchingsOf(id)} />
            <AxisFrame range={range} now={now} deadline={deadline} width={width} height={height} xOf={xOf} />
            <Heartbeats {...props} lanes={lanes} scale={scale} />
            <EventMarks events={events} lanes={lanes} now={now} scale={scale} cursor={cursor} hatchingId={id} />
            {active ? (
              <path
                aria-hidden
                d={`M${xOf(active.from)} ${headHeight}V${height}`}
                stroke="var(--brand-text)"
                className="pointer-events-none"
              />
            ) : null}
          </svg>
        )}
        {active ? (
          <ActiveTip
            event={active}
            {...{ lanes, now, scale, height }}
            opens={cursor.mayOpen(active) ? active.kind : null}
          />
        ) : null}
      </div>
    </div>
  );
}

function LaneLabels({ extensions, hasHooks }: Pick<TimeAxisProps, 'extensions' | 'hasHooks'>) {
  const { t } = useTranslation('timeline');
  return (
    <div aria-hidden style={{ paddingTop: headHeight }} className="text-12 text-ink-2">
      <LaneLabel icon={<Settings2 className="size-3.5" />}>{t('lane.configuration')}</LaneLabel>
      <LaneLabel icon={<User className="size-3.5" />}>{t('lane.people')}</LaneLabel>
      <LaneLabel icon={<CirclePlay className="size-3.5" />}>{t('lane.executions')}</LaneLabel>
      {hasHooks ? <LaneLabel icon={<Boxes className="size-3.5" />}>{t('lane.hooks')}</LaneLabel> : null}
      {extensions.map(({ name, status }) => (
        <LaneLabel key={name} icon={<StatusIcon status={status} />}>
          {name}
        </LaneLabel>
      ))}
      <LaneLabel icon={<HeartPulse className="size-3.5" />}>{t('lane.heartbeats')}</LaneLabel>
    </div>
  );
}

const middleOf = (lane: number): number => headHeight + lane * laneHeight + laneHeight / 2;

interface HeartbeatsProps extends Pick<TimeAxisProps, 'timeline' | 'range' | 'now' | 'periodMs'> {
  lanes: Lanes;
  scale: Scale;
}

/** Heartbeats, thinned out so that their ticks do not overlap. */
function Heartbeats({ timeline, range, now, periodMs, lanes, scale: { from, width, xOf } }: HeartbeatsProps) {
  const { names, hasHooks } = lanes;
  const shown = timeline.lanes.filter(({ extension }) => names.includes(extension));
  const stepMs = Math.max(periodMs, (spans[range].past / Math.max(1, width * 0.85)) * 12);
  return (
    <g aria-hidden>
      {ticksOf(shown, from, now, stepMs).map(({ at, drawn }) => (
        <HeartbeatTick key={at} drawn={drawn} x={xOf(at)} y={middleOf(laneCount(names.length, hasHooks) - 1)} />
      ))}
    </g>
  );
}

interface EventMarksProps {
  events: readonly AxisEvent[];
  lanes: Lanes;
  now: number;
  scale: Scale;
  cursor: EventCursor;
  hatchingId: string;
}

function EventMarks({ events, lanes, now, scale: { width, xOf }, cursor, hatchingId }: EventMarksProps) {
  const { t } = useTranslation(['timeline', 'common', 'executions']);
  const words = useEventWords();
  const isNarrow = width < 480;
  const wordOf = (event: AxisEvent): string | null => {
    if (event.kind === 'configuration') return String(event.of.incarnation);
    return event.kind === 'act' ? actWords(t, event.of) : null;
  };
  return events.map((event, index) => {
    const { lane, title, notes, when } = words(event, now);
    const end = xOf(event.to ?? now);
    return (
      <EventMark
        key={event.id}
        event={event}
        name={[lane, title, ...notes, when].join(', ')}
        word={isNarrow ? null : wordOf(event)}
        x={xOf(event.from)}
        end={end < xOf(now) ? end - 1 : end}
        y={middleOf(laneOf(event, lanes))}
        room={roomAround(events, index, xOf, xOf(now))}
        height={laneHeight}
        hatchings={hatchingsOf(hatchingId)}
        isLink={cursor.mayOpen(event)}
        isStop={event.id === cursor.stop?.id}
        isFocused={event.id === cursor.focused}
        onFocus={(visible) => cursor.focus(event, visible)}
        onBlur={cursor.blur}
        onPoint={() => cursor.point(event)}
        onKey={(pressed) => cursor.walk(pressed, event)}
        onOpen={() => cursor.open(event)}
      />
    );
  });
}

/** What a click on an event opens. */
const hints = {
  configuration: 'open',
  execution: 'open.execution',
  hook: 'open.hook',
} as const;

interface ActiveTipProps {
  event: AxisEvent;
  lanes: Lanes;
  now: number;
  scale: Scale;
  height: number;
  /** The kind of the event if it leads to a page; otherwise null. */
  opens: keyof typeof hints | null;
}

function ActiveTip({ event, lanes, now, scale: { width, xOf }, height, opens }: ActiveTipProps) {
  const { t } = useTranslation('timeline');
  const words = useEventWords();
  const lane = laneOf(event, lanes);
  return (
    <TimeTip
      words={words(event, now)}
      drawn={'drawn' in event ? event.drawn : null}
      hint={opens === null ? null : t(hints[opens])}
      x={xOf(event.from)}
      width={width}
      top={headHeight + (lane + 1) * laneHeight}
      bottom={height - headHeight - lane * laneHeight}
      below={lane < Math.max(4, laneCount(lanes.names.length, lanes.hasHooks) / 2)}
    />
  );
}

/**
 * Returns the space for a label before and after an event, in pixels, up to its neighbors in the lane or the ends of
 * the axis.
 */
function roomAround(events: readonly AxisEvent[], index: number, xOf: (at: number) => number, end: number) {
  const event = events[index];
  if (event === undefined) return { before: 0, after: 0 };
  const alike = ({ kind }: AxisEvent) => kind === event.kind;
  const x = xOf(event.from);
  const [previous, next] = [events.slice(0, index).findLast(alike), events.slice(index + 1).find(alike)];
  // The previous event's label may be between the two events, so this label gets only half of that space.
  const own = 12;
  return {
    before: previous === undefined ? x : (x - xOf(previous.from)) / 2 - own,
    after: (next === undefined ? end : xOf(next.from) - own) - x,
  };
}

function LaneLabel({ icon, children }: { icon: ReactNode; children: string }) {
  return (
    <div className="flex items-center gap-1.5 pe-2" style={{ height: laneHeight }}>
      <span className="flex max-sm:hidden">{icon}</span>
      <span className="truncate" title={children}>
        {children}
      </span>
    </div>
  );
}
