import type { ReactNode } from 'react';
import { cn } from '#app/_ui/cn.ts';

/** The name of a hook. */
export function HookName({ children, className }: { children?: ReactNode; className?: string }) {
  return (
    <span translate="no" className={cn('mono wrap-anywhere', className)}>
      {children}
    </span>
  );
}
