'use client';

import { RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import { EmptyState } from './empty-state.tsx';
import { DateTime } from './time.tsx';

export interface ErrorStateProps {
  /** What failed, such as "The list did not load". */
  title: ReactNode;
  /** Why it failed, and whether anything was changed. */
  message: ReactNode;
  code?: string;
  requestId?: string;
  /** When it failed. */
  at?: Date;
  /** Retries. If absent, there is no button. */
  onRetry?(): void;
  as?: 'h1' | 'h2' | 'h3';
}

/**
 * Shown in place of a part of a page that failed. Says what failed, why, what to do next, and what to report to the
 * portal's operators.
 */
export function ErrorState({ title, message, code, requestId, at, onRetry, as }: ErrorStateProps) {
  const { t } = useTranslation('common');
  const [copied, setCopied] = useState(false);
  const isNamed = requestId === undefined || (typeof message === 'string' && message.includes(requestId));
  const details = [code, requestId, at?.toISOString(), typeof location === 'undefined' ? '' : location.pathname];
  return (
    <EmptyState
      {...(as === undefined ? {} : { as })}
      status="failed"
      title={title}
      actions={
        <>
          {onRetry === undefined ? null : (
            <Button onClick={onRetry}>
              <RotateCw aria-hidden />
              {t('tryAgain')}
            </Button>
          )}
          <Button
            variant="ghost"
            onClick={() =>
              void copyText(details.filter((part) => part !== undefined && part !== '').join('\n')).then(setCopied)
            }
          >
            {copied ? t('copied') : t('copyDetails')}
          </Button>
        </>
      }
      foot={
        isNamed ? undefined : (
          <>
            {t('request')} <code className="mono">{requestId}</code>
            {at === undefined ? null : (
              <>
                , <DateTime value={at} style="time" />
              </>
            )}
          </>
        )
      }
    >
      <p role="alert">{message}</p>
    </EmptyState>
  );
}
