'use client';

import * as Radix from 'radix-ui/toast';
import { useEffect, useState } from 'react';
import type { PendingToast } from './pending-toast.ts';

export interface ToastListProps {
  label: string;
  subscribe(listener: () => void): () => void;
  take(): readonly PendingToast[];
}

interface Shown extends PendingToast {
  id: number;
}

const shortMs = 4_000;
/** Milliseconds that are enough to read the sentence and to reach the button by keyboard (F8 focuses it). */
const undoMs = 12_000;
const most = 4;
let count = 0;

/**
 * Shows toasts, the newest last. They stay while hovered or focused. Only the last action can be undone, because several
 * undo buttons would look the same. Loaded on demand by `Toaster`.
 */
export function ToastList({ label, subscribe, take }: ToastListProps) {
  const [shown, setShown] = useState<readonly Shown[]>([]);
  useEffect(() => {
    function showPending() {
      const more = take().map((toast) => ({ ...toast, id: ++count }));
      if (more.length === 0) return;
      const undoable = more.findLast(({ undo }) => undo !== undefined)?.id;
      setShown((before) =>
        [...before, ...more]
          .filter(({ id, undo }) => undoable === undefined || undo === undefined || id === undoable)
          .slice(-most),
      );
    }
    showPending();
    return subscribe(showPending);
  }, [subscribe, take]);
  const drop = (id: number) => setShown((before) => before.filter((toast) => toast.id !== id));
  return (
    <Radix.Provider label={label} swipeDirection="down">
      {shown.map(({ id, text, undo }) => (
        <Radix.Root
          key={id}
          duration={undo === undefined ? shortMs : undoMs}
          onOpenChange={(open) => open || drop(id)}
          className="flex min-h-[42px] items-center gap-2.5 rounded-lg bg-tip py-1.5 ps-3.5 pe-1.5 text-13 text-tip-text shadow-3 animate-rise data-[swipe=move]:translate-y-(--radix-toast-swipe-move-y)"
        >
          <Radix.Title className="min-w-0 flex-1 wrap-anywhere">{text}</Radix.Title>
          {undo === undefined ? null : (
            <Radix.Action
              altText={undo.label}
              onClick={undo.run}
              className="h-(--control) shrink-0 rounded-md px-2 font-medium underline underline-offset-3 focus-visible:shadow-[inset_0_0_0_2px_currentColor] pointer-coarse:h-(--touch)"
            >
              {undo.label}
            </Radix.Action>
          )}
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed bottom-4 left-1/2 z-60 grid w-[min(420px,calc(100vw-24px))] -translate-x-1/2 gap-2 outline-none max-sm:bottom-[70px]" />
    </Radix.Provider>
  );
}
