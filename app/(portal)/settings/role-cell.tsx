'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { Role } from '#app/_shell/reader.tsx';
import { Chip, Tag } from '#app/_ui/tag.tsx';

/** Whether this role may publish, and so has namespaces. */
export const hasNamespaces = (role: Role): boolean => role === 'admin' || role === 'publisher';

/** Whether admins can give this role the grant `scripts`, as in the portal's `canHoldScripts`. */
export const mayHoldScripts = (role: Role): role is 'operator' | 'publisher' =>
  role === 'operator' || role === 'publisher';

/** What the grant `scripts` allows a member or token with this role; nothing without the grant. */
export function ScriptsChip({ role, scripts }: { role: Role; scripts: boolean }) {
  const { t } = useTranslation('settings');
  return scripts && mayHoldScripts(role) ? <Chip className="ms-2">{t(`scripts.${role}.short`)}</Chip> : null;
}

/** The namespaces of a role: names for publishers, "all" for admins, nothing for other roles. */
export function Namespaces({ role, namespaces }: { role: Role; namespaces: readonly string[] }) {
  const { t } = useTranslation('settings');
  if (role === 'admin') return <span className="text-ink-3">{t('namespaces.all')}</span>;
  if (!hasNamespaces(role)) return null;
  if (namespaces.length === 0) return <span className="text-ink-3">{t('namespaces.none')}</span>;
  return (
    <span className="flex flex-wrap gap-1 py-1">
      {namespaces.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
    </span>
  );
}
