'use client';

import { type KeyboardEvent, useRef } from 'react';
import type { ServiceLayout } from './picture-layout.ts';
import { neighborsOf, nextInRing, type RelatedRing, walk } from './picture-walk.ts';

export interface PictureKeys {
  layout: ServiceLayout;
  /** The service that is the one stop of the picture. */
  current: string;
  view: { pan(x: number, y: number): void; zoom(factor: number): void; fit(): void };
  go(name: string): void;
  /** Goes to the search field. */
  find(): void;
}

const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;
const panBy = 80;

/** Returns the handler of the picture's keys: arrows walk, `r` goes to related services, `f` finds, `+`, `-` and `0` zoom. */
export function usePictureKeys({ layout, current, view, go, find }: PictureKeys): (event: KeyboardEvent) => void {
  const ring = useRef<RelatedRing | null>(null);
  return (event: KeyboardEvent) => {
    const direction = arrows[event.key as keyof typeof arrows];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (direction !== undefined && event.shiftKey) {
      view.pan(
        direction === 'left' ? panBy : direction === 'right' ? -panBy : 0,
        direction === 'up' ? panBy : direction === 'down' ? -panBy : 0,
      );
    } else if (direction !== undefined) go(walk(layout, current, direction));
    else if (event.key === 'r') {
      ring.current = nextInRing(ring.current, neighborsOf(layout, current), current);
      go(ring.current.names[ring.current.at] ?? current);
    } else if (event.key === 'f') find();
    else if (event.key === '+') view.zoom(1.25);
    else if (event.key === '-') view.zoom(0.8);
    else if (event.key === '0') view.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}
