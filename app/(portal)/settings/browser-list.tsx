'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import type { Browser } from '#app/(auth)/second-factor/account.ts';

export interface BrowserListProps {
  label: string;
  items: readonly Browser[];
  /** Id of the session that is being ended. */
  ending: string | undefined;
  onEnd(browser: Browser): void;
}

/** Browsers with a session: each with its name, address, sign-in method, start and last use. */
export function BrowserList({ label, items, ending, onEnd }: BrowserListProps) {
  const { t } = useTranslation('account');
  return (
    <ul aria-label={label} className="pb-1">
      {items.map((browser) => {
        const name = [browser.browser ?? t('sessions.unknown'), browser.system].filter(Boolean).join(', ');
        return (
          <li
            key={browser.id}
            className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2"
          >
            <div className="grid min-w-0 flex-[1_1_14rem] gap-0.5">
              <span className="flex flex-wrap items-center gap-2 font-medium">
                <span translate="no">{name}</span>
                {browser.isThis ? <Chip className="font-normal">{t('sessions.this')}</Chip> : null}
              </span>
              <span className="flex flex-wrap gap-x-3 text-12 text-ink-3">
                {browser.address === null ? null : (
                  <span translate="no" className="mono">
                    {browser.address}
                  </span>
                )}
                <span>{t(`sessions.method.${browser.method}`)}</span>
                <span>
                  {t('sessions.since')} <DateTime value={browser.createdAt} />
                </span>
              </span>
            </div>
            <span className="text-12 text-ink-2">
              {t('sessions.used')} <RelativeTime value={browser.lastUsedAt} />
            </span>
            {browser.isThis ? null : (
              <Button
                size="sm"
                className="ms-auto"
                busy={ending === browser.id}
                aria-label={t('sessions.end.label', { name })}
                onClick={() => onEnd(browser)}
              >
                {t('sessions.end')}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
