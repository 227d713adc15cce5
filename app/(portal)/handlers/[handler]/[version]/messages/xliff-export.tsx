'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { canonicalLanguage } from '#protocol/language.ts';
import { languageAddress } from './store-language.ts';

export interface XliffExportProps {
  handler: string;
  version: string;
  languages: readonly string[];
  onClose(): void;
}

const formats = ['2.1', '1.2'] as const;

/** Exports a language for translators. The language need not have any texts yet. */
export function XliffExport({ handler, version, languages, onClose }: XliffExportProps) {
  const { t } = useTranslation(['localization', 'common']);
  const others = languages.filter((lang) => lang !== 'en');
  const [tag, setTag] = useState(others[0] ?? '');
  const [format, setFormat] = useState<(typeof formats)[number]>('2.1');
  const lang = canonicalLanguage(tag);
  const fits = lang !== null && lang !== 'en' && tag.trim() !== '';
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('localization:xliff.export.title')}
      description={t('localization:xliff.export.why')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          {fits ? (
            <Button asChild variant="primary">
              <a
                href={`${languageAddress({ handler, version, lang }, '.xlf')}?xliff=${format}`}
                download
                onClick={onClose}
              >
                {t('localization:xliff.export.act', { lang })}
              </a>
            </Button>
          ) : (
            <Button variant="primary" disabled>
              {t('localization:xliff.export.none')}
            </Button>
          )}
        </>
      }
    >
      <Field
        label={t('localization:xliff.language')}
        hint={t('localization:xliff.language.hint')}
        error={tag.trim() === '' || fits ? undefined : t('localization:xliff.language.form')}
      >
        <Input
          mono
          list="xliff-languages"
          value={tag}
          onChange={(event) => setTag(event.target.value)}
          placeholder="fr"
          autoCapitalize="off"
          spellCheck={false}
        />
      </Field>
      <datalist id="xliff-languages">
        {others.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Field label={t('localization:xliff.format')}>
        <Select
          value={format}
          onChange={(event) => setFormat(formats.find((each) => each === event.target.value) ?? '2.1')}
          options={formats.map((value) => ({ value, label: `XLIFF ${value}` }))}
        />
      </Field>
    </Dialog>
  );
}
