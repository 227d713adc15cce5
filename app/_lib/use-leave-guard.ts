'use client';

import { useRouter } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { type Ask, guardPage } from './leave.ts';

/**
 * While `ask` is given, calls it before a link, Back, Forward or `mayLeave` leaves this page. To leave, `ask` calls
 * `go`. If the page is reloaded or the tab is closed, the browser asks instead.
 */
export function useLeaveGuard(ask: Ask | null): void {
  const router = useRouter();
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  const active = ask !== null;
  useEffect(() => {
    if (!active) return;
    let agreed = false;
    const question: Ask = (go) =>
      latest.current?.(() => {
        agreed = true;
        go();
      });
    const open = guardPage(question);

    const unload = (event: BeforeUnloadEvent) => {
      if (!agreed) event.preventDefault();
    };
    const click = (event: MouseEvent) => {
      const target = targetOf(event);
      if (target === null || agreed) return;
      event.preventDefault();
      event.stopPropagation();
      question(() => router.push(target));
    };
    const traverse = (event: NavigateEvent) => {
      if (agreed || event.navigationType !== 'traverse' || !event.cancelable) return;
      const { key } = event.destination;
      event.preventDefault();
      question(() => void window.navigation.traverseTo(key));
    };
    // Browsers without the Navigation API go back without asking.
    const history = 'navigation' in window ? window.navigation : null;
    addEventListener('beforeunload', unload);
    document.addEventListener('click', click, true);
    history?.addEventListener('navigate', traverse);
    return () => {
      open();
      removeEventListener('beforeunload', unload);
      document.removeEventListener('click', click, true);
      history?.removeEventListener('navigate', traverse);
    };
  }, [active, router]);
}

/**
 * Returns the path that a click leads to; null if the click stays on the page, opens another tab or leaves the portal.
 */
function targetOf(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement) || link.target === '_blank') return null;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const to = new URL(link.href);
  const address = to.pathname + to.search;
  return to.origin !== location.origin || address === location.pathname + location.search ? null : address;
}
