'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';

/** Marks something as added, removed or changed, with a colored sign and a label for screen readers. */
export function ChangeSign({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation('packages');
  const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
  const looks = {
    added: ['+', 'bg-healthy-tint text-healthy-text'],
    removed: ['−', 'bg-failed-tint text-failed-text'],
    changed: ['~', 'bg-sunken text-ink-2'],
  } as const;
  const [sign, look] = looks[kind];
  return (
    <span
      title={t(`compare.${kind}`)}
      className={cn('mono-11 inline-grid size-4 shrink-0 place-items-center rounded-xs', look)}
    >
      <span aria-hidden>{sign}</span>
      <span className="sr-only">{t(`compare.${kind}`)}</span>
    </span>
  );
}
