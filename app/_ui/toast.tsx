'use client';

import dynamic from 'next/dynamic';
import { useSyncExternalStore } from 'react';
import type { PendingToast, ToastOptions } from './pending-toast.ts';

/** The library is fetched with the first toast; what is said meanwhile waits here. */
let pending: readonly PendingToast[] = [];
let wanted = false;
const listeners = new Set<() => void>();

/** What happened, in the past tense, with the way back. Never for an error that needs an act: that stays on the page. */
export function toast(text: string, options: ToastOptions = {}): void {
  pending = [...pending, { text, ...options }];
  wanted = true;
  for (const listen of listeners) listen();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Hands over what waits, once. */
function takePending(): readonly PendingToast[] {
  const taken = pending;
  pending = [];
  return taken;
}

const ToastList = dynamic(() => import('./toast-list.tsx').then((module) => module.ToastList), { ssr: false });

/** Where toasts appear. Stands once, in the shell. */
export function Toaster({ label }: { label: string }) {
  const isWanted = useSyncExternalStore(
    subscribe,
    () => wanted,
    () => false,
  );
  return isWanted ? <ToastList label={label} subscribe={subscribe} take={takePending} /> : null;
}
