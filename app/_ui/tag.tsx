'use client';

import { Plus, X } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from './cn.ts';

export interface TagProps {
  /** The tag's key; drawn paler, with a colon. */
  name?: string;
  children: ReactNode;
  className?: string;
}

/** `env: prod`. Also for a bare word, such as a version's state. */
export function Tag({ name, children, className }: TagProps) {
  return (
    <span
      className={cn(
        'inline-flex h-5 max-w-full min-w-0 items-center rounded-sm bg-sunken px-1.5 text-12 whitespace-nowrap text-ink-2 shadow-hair-subtle',
        className,
      )}
      title={typeof children === 'string' && name !== undefined ? `${name}: ${children}` : undefined}
    >
      <span className="min-w-0 truncate">
        {name === undefined ? null : <span className="me-1 text-ink-3">{name}:</span>}
        {children}
      </span>
    </span>
  );
}

/** A neutral small box for a word or a figure without a state: "+1", "Draft". */
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

export interface FilterChipProps {
  field: ReactNode;
  relation: ReactNode;
  value: ReactNode;
  /** Takes the filter away. */
  onRemove(): void;
  /** Accessible name of the remove button, such as "Remove filter env is prod". */
  removeLabel: string;
}

/** A filter in use: field, relation, value, remove. */
export function FilterChip({ field, relation, value, onRemove, removeLabel }: FilterChipProps) {
  const part = 'inline-flex items-center px-[7px]';
  return (
    <span className="inline-flex h-[26px] items-stretch divide-x divide-line-subtle overflow-hidden rounded-md bg-surface text-12 shadow-hair pointer-coarse:h-9 rtl:divide-x-reverse">
      <span className={cn(part, 'text-ink-2')}>{field}</span>
      <span className={cn(part, 'text-ink-3')}>{relation}</span>
      <span className={cn(part, 'max-w-56 truncate font-medium')}>{value}</span>
      <button
        type="button"
        aria-label={removeLabel}
        title={removeLabel}
        onClick={onRemove}
        className="px-1.5 text-ink-3 hover:bg-hover hover:text-ink focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] pointer-coarse:px-2.5"
      >
        <X aria-hidden className="size-3" />
      </button>
    </span>
  );
}

/** A common filter that is not in use: dashed. Give it to a menu's or popover's trigger. */
export function AddFilterButton({ children, className, ...props }: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...props}
      className={cn(
        'inline-flex h-[26px] items-center gap-1 rounded-md border border-dashed border-line px-2 text-12 whitespace-nowrap text-ink-2 hover:bg-hover hover:text-ink pointer-coarse:h-9',
        className,
      )}
    >
      <Plus aria-hidden className="size-3.5" />
      {children}
    </button>
  );
}

export interface LanguageBadgeProps {
  /** Language of the text that is shown, `null` where it came as sent. */
  language: string | null;
  /** Where the text comes from. */
  source: 'resource' | 'as-sent' | 'bare-id';
  /** The reader gets another language than asked for: the box turns amber and says so. */
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
