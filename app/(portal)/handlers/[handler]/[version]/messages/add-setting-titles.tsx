'use client';

import { ListPlus } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { Version } from '../version-data.ts';
import type { EditedMessages } from './use-messages.ts';

export interface AddSettingTitlesProps {
  titles: Version['settingMessages'];
  messages: EditedMessages;
}

/** Adds the titles and descriptions of the settings schema to the English messages, so that they can be translated. */
export function AddSettingTitles({ titles, messages }: AddSettingTitlesProps) {
  const { t } = useTranslation('localization');
  const missing = titles.filter(({ id }) => messages.textOf('en', id) === '');
  if (missing.length === 0) return null;
  const add = () => {
    messages.addLanguage('en');
    for (const { id, text } of missing) {
      messages.addId(id);
      messages.write('en', id, text);
    }
  };
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line-subtle px-4 py-2">
      <Button size="sm" onClick={add}>
        <ListPlus aria-hidden />
        {t('settingTitles.add', { count: missing.length })}
      </Button>
      <span className="text-12 text-ink-3">{t('settingTitles.why')}</span>
    </div>
  );
}
