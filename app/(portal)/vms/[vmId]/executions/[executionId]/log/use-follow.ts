'use client';

import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** Distance from the end that counts as the end, in pixels. */
const nearPx = 24;

/**
 * Follows the end of a growing list. Following stops when the reader scrolls up, and starts when the reader reaches the
 * end. `seen` is the number of rows at the time when following stopped.
 */
export function useFollow(frame: RefObject<HTMLElement | null>, startsAtEnd: boolean) {
  const [follows, setFollows] = useState(startsAtEnd);
  const [seen, setSeen] = useState(0);
  const lastTop = useRef(0);
  return {
    follows,
    seen,
    stop(rows: number) {
      if (follows) setSeen(rows);
      setFollows(false);
    },
    follow() {
      setFollows(true);
      // If the reader has just scrolled up, React may merge both state changes, and then no effect would scroll.
      const element = frame.current;
      if (element !== null) element.scrollTop = element.scrollHeight;
    },
    onScroll(rows: number) {
      const element = frame.current;
      if (element === null) return;
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - nearPx;
      const movedUp = element.scrollTop < lastTop.current;
      lastTop.current = element.scrollTop;
      if (isAtEnd) setFollows(true);
      else if (movedUp && follows) {
        setFollows(false);
        setSeen(rows);
      }
    },
  };
}

/**
 * Scrolls to the end of a list when rows arrive, and when the list gets another size, such as after a rotation. The
 * effects are layout effects: when following stops because the reader goes to a row, the observer must be gone before
 * the list changes its size, or it would scroll back to the end.
 */
export function useStayAtEnd(frame: RefObject<HTMLElement | null>, follows: boolean, rows: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new row moves the end of the list
  useLayoutEffect(() => {
    const element = frame.current;
    if (follows && element !== null) element.scrollTop = element.scrollHeight;
  }, [frame, follows, rows]);
  const isEmpty = rows === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an empty list has no element yet
  useLayoutEffect(() => {
    const element = frame.current;
    if (!follows || element === null) return;
    const observer = new ResizeObserver(() => {
      element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [frame, follows, isEmpty]);
}
