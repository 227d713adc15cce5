'use client';

import { useRouter } from 'next/navigation';
import { type KeyboardEvent, type RefObject, useState } from 'react';
import { useReader } from '#app/_shell/reader.tsx';
import { executionHref } from '#app/(portal)/executions/execution-href.ts';
import { unitHref } from '#app/(portal)/models/[model]/services/service-data.ts';
import { type AxisEvent, type LinkedEvent, nextEvent } from './axis-events.ts';
import type { Lanes } from './measures.ts';

/** The events selected by pointer and keyboard. Tab stops once on the axis; arrow keys move between its events. */
export interface EventCursor {
  /** The event that Tab reaches. */
  stop: AxisEvent | undefined;
  /** Id of the event with a visible focus. */
  focused: string | null;
  /** The event under the pointer, or the focused event. */
  active: AxisEvent | undefined;
  /** Whether the event leads to a page that the reader may open. */
  mayOpen(event: AxisEvent): event is LinkedEvent;
  focus(event: AxisEvent, isVisible: boolean): void;
  blur(): void;
  point(event: AxisEvent | null): void;
  walk(pressed: KeyboardEvent<SVGGElement>, from: AxisEvent): void;
  open(event: AxisEvent): void;
}

export interface EventCursorOptions {
  vmId: string;
  events: readonly AxisEvent[];
  lanes: Lanes;
  box: RefObject<HTMLElement | null>;
}

export function useEventCursor({ vmId, events, lanes, box }: EventCursorOptions): EventCursor {
  const router = useRouter();
  const mayCompare = useReader().can('operator');
  const [focused, setFocused] = useState<string | null>(null);
  const [pointed, setPointed] = useState<string | null>(null);
  const [stop, setStop] = useState<string | null>(null);

  const mayOpen = (event: AxisEvent): event is LinkedEvent =>
    event.kind === 'execution' || event.kind === 'hook' || (event.kind === 'configuration' && mayCompare);

  function open(event: AxisEvent) {
    if (!mayOpen(event)) return;
    if (event.kind === 'execution') return router.push(executionHref({ vmId, id: event.of.executionId }));
    if (event.kind === 'hook') return router.push(`${unitHref(event.of.model, event.of.unit)}?run=${event.of.run}`);
    const { incarnation } = event.of;
    router.push(`/vms/${vmId}?tab=goal-state&a=${Math.max(1, incarnation - event.count)}&b=${incarnation}`);
  }

  function walk(pressed: KeyboardEvent<SVGGElement>, from: AxisEvent) {
    if (pressed.key === 'Escape') {
      setFocused(null);
      setPointed(null);
      return;
    }
    if (pressed.key === 'Enter') return open(from);
    const next = nextEvent(events, lanes, from, pressed.key);
    if (next === undefined) return;
    pressed.preventDefault();
    setStop(next.id);
    box.current?.querySelector<SVGGElement>(`[data-event="${CSS.escape(next.id)}"]`)?.focus();
  }

  return {
    stop: events.find(({ id }) => id === stop) ?? events.at(-1),
    focused,
    active: events.find(({ id }) => id === (pointed ?? focused)),
    mayOpen,
    focus: (event, isVisible) => {
      setStop(event.id);
      if (isVisible) setFocused(event.id);
    },
    blur: () => setFocused(null),
    point: (event) => setPointed(event?.id ?? null),
    walk,
    open,
  };
}
