'use client';

import type { KeyboardEvent } from 'react';
import { type AxisEvent, initialsOf, isStretch } from './axis-events.ts';
import { Diamond, Disc, type Hatchings, HealthBar } from './event-shape.tsx';

export interface EventMarkProps {
  event: AxisEvent;
  /** The event's accessible name: the tooltip's text without its hint. */
  name: string;
  /** A label next to the event, if it fits. */
  word: string | null;
  /**
   * In pixels: the start (`x`) and end of the event, the middle of its lane (`y`), and the space before and after the
   * event.
   */
  x: number;
  end: number;
  y: number;
  room: { before: number; after: number };
  height: number;
  hatchings: Hatchings;
  isLink: boolean;
  /** Whether Tab reaches this event. */
  isStop: boolean;
  isFocused: boolean;
  onFocus(visible: boolean): void;
  onBlur(): void;
  onPoint(): void;
  onKey(event: KeyboardEvent<SVGGElement>): void;
  onOpen(): void;
}

/** One event on the axis: its shape, its name, and its target for pointer and keyboard. */
export function EventMark(props: EventMarkProps) {
  const { event, name, x, end, y, height, hatchings, isLink } = props;
  const box = isStretch(event) ? { x, width: Math.max(3, end - x) } : { x: x - 10, width: 20 };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is either link or img
    <g
      data-event={event.id}
      role={isLink ? 'link' : 'img'}
      aria-label={name}
      tabIndex={props.isStop ? 0 : -1}
      className="outline-none"
      style={isLink ? { cursor: 'pointer' } : undefined}
      onFocus={({ currentTarget }) => props.onFocus(currentTarget.matches(':focus-visible'))}
      onBlur={props.onBlur}
      onPointerEnter={props.onPoint}
      onKeyDown={props.onKey}
      onClick={props.onOpen}
    >
      <rect x={box.x - 2} y={y - height / 2} width={box.width + 4} height={height} fill="transparent" />
      {event.kind === 'configuration' ? (
        <Diamond x={x} y={y} several={event.count > 1} isStep={event.of.cause.rollout !== undefined} />
      ) : null}
      {event.kind === 'act' ? (
        <Disc
          x={x}
          y={y}
          initials={event.of.kind === 'system' ? null : initialsOf(event.of.who)}
          several={event.count > 1}
        />
      ) : null}
      {event.kind === 'health' || event.kind === 'execution' || event.kind === 'hook' ? (
        <HealthBar drawn={event.drawn} x={x} y={y} width={box.width} hatchings={hatchings} />
      ) : null}
      {props.word === null ? null : <Word {...props} word={props.word} offset={event.kind === 'act' ? 14 : 10} />}
      {props.isFocused ? (
        <rect
          x={box.x - 2}
          y={y - 11}
          width={box.width + 4}
          height={22}
          rx="4"
          fill="none"
          stroke="var(--brand-text)"
          strokeWidth="2"
        />
      ) : null}
    </g>
  );
}

/** Average width of a letter in Inter at 11 px, in pixels. */
const letterWidth = 6.3;

/**
 * A label after the event, or before it if there is no space after it. If there is no space on either side, only the
 * tooltip shows the label.
 */
function Word({ x, y, word, room, offset, event }: EventMarkProps & { word: string; offset: number }) {
  const needed = word.length * letterWidth + offset + 8;
  const after = room.after >= needed;
  if (!after && room.before < needed) return null;
  const strong = event.kind === 'configuration';
  return (
    <text
      aria-hidden
      x={after ? x + offset : x - offset}
      y={y + 4}
      textAnchor={after ? 'start' : 'end'}
      fill={strong ? 'var(--text)' : 'var(--text-2)'}
      className={strong ? 'text-11 font-medium tabular-nums' : 'text-11'}
    >
      {word}
    </text>
  );
}
