'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { ChangeSign } from './change-sign.tsx';
import type { Comparison } from './comparison.ts';

/** Files that were added, removed or changed, compared by checksum. */
export function ChangedFiles({ files }: { files: Comparison['files'] }) {
  const { t } = useTranslation('packages');
  const more = files.total - files.changed.length;
  return (
    <Card>
      <CardHeader
        title={t('files.title')}
        note={
          files.total === 0
            ? t('compare.unchanged')
            : `${t('compare.differ', { count: files.total })}, ${t('compare.unchangedCount', { count: files.same })}`
        }
      />
      {files.total === 0 ? null : (
        <CardBody>
          <ul>
            {files.changed.map(({ name, before, after }) => (
              <li key={name} className="flex min-h-7 items-center gap-2 py-0.5">
                <ChangeSign before={before} after={after} />
                <span translate="no" className="mono min-w-0 wrap-anywhere">
                  {name}
                </span>
                <span className="ms-auto shrink-0 text-11 text-ink-3">
                  {before === null || after === null || before === after ? (
                    <Num value={after ?? before ?? 0} as="bytes" />
                  ) : (
                    <>
                      <Num value={before} as="bytes" /> → <Num value={after} as="bytes" />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
          {more > 0 ? <p className="pt-1 text-12 text-ink-3">{t('compare.more', { count: more })}</p> : null}
        </CardBody>
      )}
    </Card>
  );
}
