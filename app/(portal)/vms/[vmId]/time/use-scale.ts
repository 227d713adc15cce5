'use client';

import { type RefObject, useEffect, useState } from 'react';
import { domainOf, type Range } from './span.ts';

/** Maps times to pixels on the axis. */
export interface Scale {
  /** Width of the axis in pixels; 0 until it is measured. */
  width: number;
  /** The earliest time on the axis. */
  from: number;
  xOf(at: number): number;
}

export function useScale(box: RefObject<HTMLElement | null>, range: Range, now: number): Scale {
  const width = useWidth(box);
  const { from, to } = domainOf(range, now);
  return { width, from, xOf: (at) => ((Math.min(Math.max(at, from), to) - from) / (to - from)) * width };
}

/** Returns the width of an element in pixels; 0 until it is measured. */
function useWidth(of: RefObject<HTMLElement | null>): number {
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
