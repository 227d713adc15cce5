'use client';

import { useEffect } from 'react';
import { Toaster as Sonner, toast as show } from 'sonner';
import type { PendingToast } from './pending-toast.ts';

export interface ToastListProps {
  label: string;
  subscribe(listener: () => void): () => void;
  take(): readonly PendingToast[];
}

/** Draws toasts. Loaded on demand by `Toaster`. */
export function ToastList({ label, subscribe, take }: ToastListProps) {
  useEffect(() => {
    function showPending() {
      for (const { text, undo } of take()) {
        show(text, {
          duration: undo === undefined ? 4000 : 10_000,
          ...(undo === undefined ? {} : { action: { label: undo.label, onClick: () => undo.run() } }),
        });
      }
    }
    showPending();
    return subscribe(showPending);
  }, [subscribe, take]);
  return (
    <Sonner
      position="bottom-center"
      containerAriaLabel={label}
      mobileOffset={{ bottom: 70 }}
      // The library brings a font of its own.
      style={{ fontFamily: 'inherit' }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            'flex min-h-[42px] w-(--width) items-center gap-2.5 rounded-lg bg-tip py-1.5 ps-3.5 pe-1.5 text-13 text-tip-text shadow-3',
          title: 'text-13',
          content: 'flex-1',
          actionButton:
            'h-(--control) rounded-md px-2 text-13 font-medium underline underline-offset-3 focus-visible:shadow-[inset_0_0_0_2px_currentColor]',
        },
      }}
    />
  );
}
