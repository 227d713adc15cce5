'use client';

import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';

/** The visible part of a picture: the offset of its upper left corner in pixels, and its scale. */
export interface Viewport {
  x: number;
  y: number;
  scale: number;
}

const limits = { min: 0.2, max: 2 };
const clamp = (scale: number) => Math.min(limits.max, Math.max(limits.min, scale));

/** Returns the viewport that shows a whole picture, enlarged at most to its own size. */
export function fitted(picture: { width: number; height: number }, frame: { width: number; height: number }): Viewport {
  const scale = clamp(Math.min(1, frame.width / picture.width, frame.height / picture.height));
  return {
    x: Math.max(0, (frame.width - picture.width * scale) / 2),
    y: Math.max(0, (frame.height - picture.height * scale) / 2),
    scale,
  };
}

/** Below this width of the frame, a picture starts with readable text instead of as a whole. */
const narrow = 640;
const readable = 0.75;

/** Returns the first viewport: the whole picture, or in a narrow frame its upper left part if the whole is too small. */
export function opening(
  picture: { width: number; height: number },
  frame: { width: number; height: number },
): Viewport {
  const whole = fitted(picture, frame);
  return frame.width >= narrow || whole.scale >= readable ? whole : { x: 0, y: 0, scale: readable };
}

/** Returns the viewport after a zoom around a point of the frame, which stays where it is. */
export function zoomed({ x, y, scale }: Viewport, factor: number, at: { x: number; y: number }): Viewport {
  const next = clamp(scale * factor);
  return { x: at.x - ((at.x - x) * next) / scale, y: at.y - ((at.y - y) * next) / scale, scale: next };
}

/** Returns the viewport after the least move that shows a box whole. */
export function revealing(
  viewport: Viewport,
  box: { x: number; y: number; width: number; height: number },
  frame: { width: number; height: number },
): Viewport {
  const { scale } = viewport;
  const shift = (offset: number, start: number, length: number, room: number) => {
    const from = start * scale + offset;
    const to = (start + length) * scale + offset;
    return from < 0 ? offset - from : to > room ? offset - (to - room) : offset;
  };
  return {
    x: shift(viewport.x, box.x, box.width, frame.width),
    y: shift(viewport.y, box.y, box.height, frame.height),
    scale,
  };
}

/**
 * Keeps the viewport of a picture per model, and changes it by dragging and, with Ctrl or ⌘, by the wheel. At first, the
 * whole picture is visible, or a readable part in a narrow frame.
 */
export function useViewport(
  model: string,
  picture: { width: number; height: number },
  frame: RefObject<HTMLElement | null>,
) {
  const key = `annex-picture-${model}`;
  const [viewport, setViewport] = useState<Viewport | null>(null);
  const drag = useRef<{ x: number; y: number } | null>(null);
  const size = () => ({ width: frame.current?.clientWidth ?? 0, height: frame.current?.clientHeight ?? 0 });
  const fit = () => setViewport(fitted(picture, size()));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place is restored once per model
  useEffect(() => {
    setViewport(stored(key) ?? opening(picture, size()));
  }, [key]);
  useEffect(() => {
    if (viewport !== null) sessionStorage.setItem(key, JSON.stringify(viewport));
  }, [key, viewport]);
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      setViewport((now) => now && zoomed(now, event.deltaY < 0 ? 1.1 : 1 / 1.1, at));
    };
    // React listens passively, so that it cannot keep the page from zooming.
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [frame]);
  return {
    viewport: viewport ?? { x: 0, y: 0, scale: 1 },
    fit,
    zoom: (factor: number) => {
      const { width, height } = size();
      setViewport((now) => now && zoomed(now, factor, { x: width / 2, y: height / 2 }));
    },
    pan: (x: number, y: number) => setViewport((now) => now && { ...now, x: now.x + x, y: now.y + y }),
    reveal: (box: Parameters<typeof revealing>[1]) => setViewport((now) => now && revealing(now, box, size())),
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button === 0 && !(event.target as Element).closest('a')) {
          drag.current = { x: event.clientX, y: event.clientY };
          event.currentTarget.setPointerCapture(event.pointerId);
        }
      },
      onPointerMove: (event: PointerEvent) => {
        const from = drag.current;
        if (from === null) return;
        const [x, y] = [event.clientX - from.x, event.clientY - from.y];
        drag.current = { x: event.clientX, y: event.clientY };
        setViewport((now) => now && { ...now, x: now.x + x, y: now.y + y });
      },
      onPointerUp: () => {
        drag.current = null;
      },
    },
  };
}

function stored(key: string): Viewport | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    const numbers = value as Viewport | null;
    return numbers !== null && [numbers.x, numbers.y, numbers.scale].every(Number.isFinite) ? numbers : null;
  } catch {
    return null;
  }
}
