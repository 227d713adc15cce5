'use client';

import { Toaster as Sonner, toast as sonner } from 'sonner';

export interface ToastOptions {
  /** The way back, where there is one. */
  undo?: { label: string; run(): void };
}

/** What happened, in the past tense, with the way back. Never for an error that needs an act: that stays on the page. */
export function toast(text: string, { undo }: ToastOptions = {}): void {
  sonner(text, {
    duration: undo === undefined ? 4000 : 10_000,
    ...(undo === undefined ? {} : { action: { label: undo.label, onClick: () => undo.run() } }),
  });
}

/** Where toasts appear. Stands once, in the shell. */
export function Toaster({ label }: { label: string }) {
  return (
    <Sonner
      position="bottom-center"
      containerAriaLabel={label}
      mobileOffset={{ bottom: 70 }}
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
