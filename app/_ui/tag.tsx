'use client';

import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from './cn.ts';

export interface TagProps {
  /** The tag's key; paler, with a colon. */
  name?: string;
  children: ReactNode;
  className?: string;
}

/** `env: prod`, a version, a namespace: a name chosen by a person. */
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

/** A small neutral box for a word or a number without a state: "+1", "Draft". */
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
  /** Language of the text, `null` where it is shown as sent. */
  language: string | null;
  /** Where the text comes from. */
  source: 'resource' | 'as-sent' | 'bare-id' | 'recovered';
  /** The text is not in the requested language: the box turns amber. */
  fallback?: boolean;
  className?: string;
}

/** The code of a message's language in a box, and its source. */
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
