'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { VersionResources } from '../version-data.ts';

/** Says which languages are unedited copies from an earlier version. */
export function CarriedLanguages({ languages }: Pick<VersionResources, 'languages'>) {
  const { t } = useTranslation('localization');
  const format = useFormat();
  const sources = [...new Set(languages.flatMap(({ carriedFrom }) => carriedFrom ?? []))];
  return sources.map((version) => {
    const list = format.list(languages.filter((each) => each.carriedFrom === version).map(({ lang }) => lang));
    return (
      <p key={version} className="px-4 pb-2.5 text-12 text-ink-2">
        {t('carried', { version, list })}
      </p>
    );
  });
}
