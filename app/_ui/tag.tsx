'use client';

import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from './cn.ts';

export interface TagProps {
  /** The tag's name, shown paler and followed by a colon. */
  name?: string;
  children: ReactNode;
  className?: string;
}

/** A value chosen by a person, such as `env: prod`, a version or a namespace. */
export function Tag({ name, children, className }: TagProps) {
  return (
    <span
      translate="no"
      className={cn(
        'inline-flex h-5 max-w-full min-w-0 items-center rounded-sm bg-sunken px-1.5 text-12 whitespace-nowrap text-ink-2 shadow-hair-subtle',
        className,
      )}
      title={typeof children === 'string' && name !== undefined ? `${name}: ${children}` : undefined}
    >
      <span className="truncate">
        {name === undefined ? null : <span className="text-ink-3">{name}: </span>}
        {children}
      </span>
    </span>
  );
}

/** A small neutral box for a label or a number without a state, such as "+1" or "Draft". */
export function Chip({ className, ...props }: ComponentProps<'span'>) {
  return (
    <span
      {...props}
      className={cn(
        'inline-flex h-5 items-center gap-[5px] rounded-sm px-1.5 text-12 whitespace-nowrap text-ink-2 shadow-hair',
        className,
      )}
    />
  );
}

export interface LanguageBadgeProps {
  /** Language of the text; `null` if it is unknown. */
  language: string | null;
  source: 'resource' | 'as-sent' | 'bare-id' | 'recovered';
  /** Whether the text is not in the requested language; the box is then amber. */
  fallback?: boolean;
  className?: string;
}

/** Shows a message's language code in a box, followed by the source of the message's text. */
export function LanguageBadge({ language, source, fallback = false, className }: LanguageBadgeProps) {
  const { t } = useTranslation('common');
  return (
    <span className={cn('inline-flex items-baseline gap-1 text-11 whitespace-nowrap text-ink-3', className)}>
      {language === null ? null : (
        <span
          title={fallback ? t('language.fallback') : undefined}
          className={cn(
            'mono-11 rounded-xs px-1 leading-[14px] font-medium text-ink-2 shadow-hair',
            fallback && 'bg-warning-tint text-warning-text shadow-[inset_0_0_0_1px_var(--warning-line)]',
          )}
        >
          {language}
        </span>
      )}
      {t(`language.source.${source}`)}
      {fallback ? <span className="sr-only">, {t('language.fallback')}</span> : null}
    </span>
  );
}
