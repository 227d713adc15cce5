import type { ComponentProps, ReactNode } from 'react';
import { cn } from './cn.ts';

/** A section with a hairline border. Cards are never nested. */
export function Card({ className, ...props }: ComponentProps<'section'>) {
  return <section {...props} className={cn('min-w-0 rounded-lg bg-surface shadow-card', className)} />;
}

export interface CardHeaderProps {
  title: ReactNode;
  /** A note or a number after the title. */
  note?: ReactNode;
  /** Buttons or a segmented control at the end. */
  actions?: ReactNode;
  /** Heading level, 2 by default. */
  as?: 'h2' | 'h3';
  id?: string;
  className?: string;
}

/** The header of a card, at least 44 px high, aligned with its body and table. */
export function CardHeader({ title, note, actions, as: Heading = 'h2', id, className }: CardHeaderProps) {
  return (
    <div
      data-header=""
      className={cn(
        'flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1.5 px-4 py-1.5 max-sm:gap-y-2 max-sm:py-2',
        className,
      )}
    >
      <div className="flex min-w-0 flex-[1_1_10rem] flex-wrap items-baseline gap-x-2">
        <Heading id={id} className="text-13 font-semibold">
          {title}
        </Heading>
        {note === undefined ? null : <span className="min-w-0 text-12 text-ink-3">{note}</span>}
      </div>
      {actions === undefined ? null : (
        <>
          {/* Invisible until the sibling arrives, so that no button moves while the browser receives the others. */}
          <div className="ms-auto flex min-w-0 flex-wrap items-center justify-end gap-2 not-has-[+*]:invisible max-sm:ms-0 max-sm:justify-start">
            {actions}
          </div>
          <span hidden />
        </>
      )}
    </div>
  );
}

/** The body of a card, with a padding of 16 px on all sides except the top. */
export function CardBody({ className, ...props }: ComponentProps<'div'>) {
  return <div {...props} className={cn('px-4 pb-4', className)} />;
}

/** The footer of a card, for its buttons. The button that is used most comes first. */
export function CardFooter({ className, ...props }: ComponentProps<'div'>) {
  return (
    <div
      {...props}
      className={cn(
        'flex flex-wrap items-center gap-2 rounded-b-lg border-t border-line-subtle bg-sunken px-4 py-2.5',
        className,
      )}
    />
  );
}
