'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Tag } from '#app/_ui/tag.tsx';

const shown = 10;

/** A VM's first tags. The others are shown on request, so that many tags do not push the page down. */
export function TagList({ tags }: { tags: readonly (readonly [name: string, value: string])[] }) {
  const { t } = useTranslation('vms');
  const [all, setAll] = useState(false);
  const rest = tags.length - shown;
  return (
    <span className="flex flex-wrap gap-1">
      {(all ? tags : tags.slice(0, shown)).map(([name, value]) => (
        <Tag key={name} name={name} className="max-w-72">
          {value}
        </Tag>
      ))}
      {rest > 0 ? (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="h-5 rounded-sm px-1.5 text-12 text-brand-text hover:bg-hover pointer-coarse:h-6"
        >
          {all ? t('vm.tags.fewer') : t('vm.tags.more', { count: rest })}
        </button>
      ) : null}
    </span>
  );
}
