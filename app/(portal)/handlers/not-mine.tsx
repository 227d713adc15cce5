'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { cn } from '#app/_ui/cn.ts';

/** Explains to a publisher of other namespaces why this handler is read-only. */
export function NotMine({ namespace, className }: { namespace: string; className?: string }) {
  const { t } = useTranslation('packages');
  const reader = useReader();
  if (reader.role !== 'publisher' || reader.namespaces.includes(namespace)) return null;
  const namespaces = reader.namespaces.join(', ');
  return (
    <p className={cn('text-12 text-ink-2', className)}>
      {namespaces === '' ? t('notMine.none', { namespace }) : t('notMine', { namespaces, namespace })}
    </p>
  );
}
