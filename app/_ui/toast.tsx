'use client';

import dynamic from 'next/dynamic';
import { useSyncExternalStore } from 'react';
import type { PendingToast, ToastOptions } from './pending-toast.ts';

/** Toasts that wait until the library is loaded. The first toast starts loading it. */
let pending: readonly PendingToast[] = [];
let wanted = false;
const listeners = new Set<() => void>();

/**
 * Shows a sentence about what happened, in the past tense, and an undo button if `undo` is given. Not for errors that
 * need an action: show such errors on the page.
 */
export function toast(text: string, options: ToastOptions = {}): void {
  pending = [...pending, { text, ...options }];
  wanted = true;
  for (const listen of listeners) listen();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function takePending(): readonly PendingToast[] {
  const taken = pending;
  pending = [];
  return taken;
}

const ToastList = dynamic(() => import('./toast-list.tsx').then((module) => module.ToastList), { ssr: false });

/** The container of toasts. Mounted once per page, by `Shell` or `Stage`. */
export function Toaster({ label }: { label: string }) {
  const isWanted = useSyncExternalStore(
    subscribe,
    () => wanted,
    () => false,
  );
  return isWanted ? <ToastList label={label} subscribe={subscribe} take={takePending} /> : null;
}
