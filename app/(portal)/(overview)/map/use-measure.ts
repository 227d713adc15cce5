'use client';

import { type RefObject, useLayoutEffect, useState } from 'react';

/** Width and minimum height of the element in CSS pixels, and device pixels per CSS pixel. */
export interface Measured {
  width: number;
  height: number;
  ratio: number;
}

/** Measures an element, and measures it again when its size or the zoom changes. */
export function useMeasure(box: RefObject<HTMLElement | null>): Measured | null {
  const [measured, setMeasured] = useState<Measured | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      const width = element.clientWidth;
      const height = Number.parseFloat(getComputedStyle(element).minHeight) || 0;
      const ratio = window.devicePixelRatio || 1;
      setMeasured((last) =>
        last?.width === width && last.height === height && last.ratio === ratio ? last : { width, height, ratio },
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // A resized window changes the reserved height, and zooming changes the ratio.
    window.addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', measure);
    };
  }, [box]);
  return measured;
}
