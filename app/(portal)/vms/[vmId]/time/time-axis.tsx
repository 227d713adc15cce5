'use client';

import { HeartPulse, Settings2, User } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import type { Timeline } from '../vm-data.ts';
import { type AxisEvent, eventsOf, laneOf, nextEvent, ticksOf } from './axis-events.ts';
import { AxisFrame } from './axis-frame.tsx';
import { EventMark } from './event-mark.tsx';
import { HatchingDefs, HeartbeatTick, hatchingsOf } from './event-shape.tsx';
import { headHeight, laneHeight } from './measures.ts';
import { domainOf, type Range, spans } from './span.ts';
import { TimeTip } from './time-tip.tsx';
import { actWords, useEventWords } from './use-event-words.ts';

export interface TimeAxisProps {
  vmId: string;
  timeline: Timeline;
  range: Range;
  now: number;
  /** The extensions that have a lane, in the order of the lanes, each with how it is now. */
  extensions: readonly { name: string; status: StatusName }[];
  deadline: number | null;
  /** From one reading of the heartbeats to the next. */
  periodMs: number;
  /** The whole as a sentence. */
  label: string;
}

/** The axis itself: lanes of what happened, the present as a line, and what is still to come. */
export function TimeAxis(props: TimeAxisProps) {
  const { vmId, timeline, range, now, extensions, deadline, periodMs, label } = props;
  const { t } = useTranslation(['timeline', 'common']);
  const router = useRouter();
  const mayOpen = useReader().can('operator');
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [focused, setFocused] = useState<string | null>(null);
  const [pointed, setPointed] = useState<string | null>(null);
  const [stop, setStop] = useState<string | null>(null);
  const words = useEventWords();
  const { from, to } = domainOf(range, now);
  const names = extensions.map(({ name }) => name);
  const lanes = timeline.lanes.filter(({ extension }) => names.includes(extension));
  const events = eventsOf(timeline, names, from, now);
  const height = headHeight + (names.length + 3) * laneHeight;
  const xOf = (at: number) => ((Math.min(Math.max(at, from), to) - from) / (to - from)) * width;
  const middle = (lane: number) => headHeight + lane * laneHeight + laneHeight / 2;
  const hatchings = hatchingsOf(id);
  const narrow = width < 480;
  // One stop of the Tab key; the arrows go on from there.
  const current = events.find((event) => event.id === stop) ?? events.at(-1);
  const active = events.find((event) => event.id === (pointed ?? focused));
  const stepMs = Math.max(periodMs, (spans[range].past / Math.max(1, width * 0.85)) * 12);

  function walk(event: KeyboardEvent<SVGGElement>, of: AxisEvent) {
    if (event.key === 'Escape') {
      setFocused(null);
      setPointed(null);
      return;
    }
    if (event.key === 'Enter') return open(of);
    const next = nextEvent(events, names, of, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next.id);
    box.current?.querySelector<SVGGElement>(`[data-event="${CSS.escape(next.id)}"]`)?.focus();
  }

  function open(event: AxisEvent) {
    if (event.kind !== 'configuration' || !mayOpen) return;
    const { incarnation } = event.of;
    router.push(`/vms/${vmId}?tab=goal-state&a=${Math.max(1, incarnation - event.count)}&b=${incarnation}`);
  }

  function wordOf(event: AxisEvent): string | null {
    if (event.kind === 'configuration') return String(event.of.incarnation);
    return event.kind === 'act' ? actWords(t, event.of) : null;
  }

  return (
    <div className="grid grid-cols-[132px_minmax(0,1fr)] px-4 max-sm:grid-cols-[86px_minmax(0,1fr)]">
      <div aria-hidden style={{ paddingTop: headHeight }} className="text-12 text-ink-2">
        <LaneLabel icon={<Settings2 className="size-3.5" />}>{t('timeline:lane.configuration')}</LaneLabel>
        <LaneLabel icon={<User className="size-3.5" />}>{t('timeline:lane.people')}</LaneLabel>
        {extensions.map(({ name, status }) => (
          <LaneLabel key={name} icon={<StatusIcon status={status} />}>
            {name}
          </LaneLabel>
        ))}
        <LaneLabel icon={<HeartPulse className="size-3.5" />}>{t('timeline:lane.heartbeats')}</LaneLabel>
      </div>
      {/* Time runs left to right in every language. */}
      <div ref={box} dir="ltr" className="relative min-w-0" style={{ height }}>
        {width === 0 ? null : (
          // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset
          <svg
            role="group"
            aria-label={label}
            width={width}
            height={height}
            className="block max-w-full"
            onPointerLeave={() => setPointed(null)}
          >
            <HatchingDefs ids={hatchings} />
            <AxisFrame range={range} now={now} deadline={deadline} width={width} height={height} xOf={xOf} />
            <g aria-hidden>
              {ticksOf(lanes, from, now, stepMs).map(({ at, drawn }) => (
                <HeartbeatTick key={at} drawn={drawn} x={xOf(at)} y={middle(names.length + 2)} />
              ))}
            </g>
            {events.map((event, index) => {
              const said = words(event, now);
              const end = xOf(event.to ?? now);
              return (
                <EventMark
                  key={event.id}
                  event={event}
                  name={[said.lane, said.title, ...said.notes, said.when].join(', ')}
                  word={narrow ? null : wordOf(event)}
                  x={xOf(event.from)}
                  end={end < xOf(now) ? end - 1 : end}
                  y={middle(laneOf(event, names))}
                  room={roomAround(events, index, xOf, xOf(now))}
                  height={laneHeight}
                  hatchings={hatchings}
                  isLink={mayOpen && event.kind === 'configuration'}
                  isStop={event.id === current?.id}
                  isFocused={event.id === focused}
                  onFocus={(visible) => {
                    setStop(event.id);
                    if (visible) setFocused(event.id);
                  }}
                  onBlur={() => setFocused(null)}
                  onPoint={() => setPointed(event.id)}
                  onKey={(pressed) => walk(pressed, event)}
                  onOpen={() => open(event)}
                />
              );
            })}
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
          <TimeTip
            words={words(active, now)}
            drawn={active.kind === 'health' || active.kind === 'heartbeat' ? active.drawn : null}
            hint={active.kind === 'configuration' && mayOpen ? t('timeline:open') : null}
            x={xOf(active.from)}
            width={width}
            top={headHeight + (laneOf(active, names) + 1) * laneHeight}
            bottom={height - headHeight - laneOf(active, names) * laneHeight}
            below={laneOf(active, names) < Math.max(3, (names.length + 3) / 2)}
          />
        ) : null}
      </div>
    </div>
  );
}

/** Pixels to the events before and after in the same lane, or to the ends of what is known. */
function roomAround(events: readonly AxisEvent[], index: number, xOf: (at: number) => number, end: number) {
  const event = events[index];
  if (event === undefined) return { before: 0, after: 0 };
  const alike = ({ kind }: AxisEvent) => kind === event.kind;
  const x = xOf(event.from);
  const [previous, next] = [events.slice(0, index).findLast(alike), events.slice(index + 1).find(alike)];
  // A neighbour's own word may stand on this side of it.
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

/** How wide an element is, in pixels; 0 until it was measured. */
function useWidth(of: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = of.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [of]);
  return width;
}
