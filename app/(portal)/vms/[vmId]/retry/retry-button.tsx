'use client';

import { RotateCw } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, type ButtonProps } from '#app/_ui/button.tsx';
import type { Extension } from '../vm-data.ts';
import type { Retry } from './use-retry.ts';

export interface RetryButtonProps extends Pick<ButtonProps, 'variant' | 'size' | 'className'> {
  extension: Extension;
  retry: Retry;
  /** Whether the accessible name contains the extension's name, for pages with several of these buttons. */
  named?: boolean;
}

/** A button that runs an extension's handler again. Reserves space for both labels, so that its width never changes. */
export function RetryButton({ extension, retry, named = false, ...props }: RetryButtonProps) {
  const { t } = useTranslation('reports');
  const { name } = extension;
  const isBusy = retry.busy === name;
  return (
    <Button
      {...props}
      busy={retry.busy !== null}
      onClick={() => retry.start(extension)}
      {...(named && { 'aria-label': isBusy ? t('retry.busy') : t('retry.of', { name }) })}
    >
      <span className="grid *:col-start-1 *:row-start-1 *:inline-flex *:items-center *:justify-center *:gap-1.5">
        <span className={isBusy ? 'invisible' : undefined}>
          <RotateCw aria-hidden />
          {t('retry')}
        </span>
        <span className={isBusy ? undefined : 'invisible'}>
          <RotateCw aria-hidden className="motion-safe:animate-spin" />
          {t('retry.busy')}
        </span>
      </span>
    </Button>
  );
}
