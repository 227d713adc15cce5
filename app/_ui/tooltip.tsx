'use client';

import * as Radix from 'radix-ui/tooltip';
import type { ReactNode } from 'react';

/** Explains the control it wraps, on hover and on focus. Never the only place where something is said. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={300}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={5}
            collisionPadding={8}
            className="z-60 max-w-72 animate-pop rounded-md bg-tip px-2 py-1 text-12 text-tip-text shadow-3"
          >
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
