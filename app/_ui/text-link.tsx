import Link from 'next/link';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** A link within text. Underlined, because color alone does not distinguish it. */
export function TextLink({ className, ...props }: ComponentProps<typeof Link>) {
  return (
    <Link
      {...props}
      className={cn(
        'rounded-xs text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current',
        className,
      )}
    />
  );
}
