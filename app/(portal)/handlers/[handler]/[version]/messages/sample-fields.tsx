'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Input } from '#app/_ui/input.tsx';

export interface SampleFieldsProps {
  id: string;
  placeholders: readonly number[];
  samples: readonly string[];
  onSample(index: number, value: string): void;
}

/** Sample values for the placeholders in the open message's preview. */
export function SampleFields({ id, placeholders, samples, onSample }: SampleFieldsProps) {
  const { t } = useTranslation('localization');
  if (placeholders.length === 0) return null;
  return (
    <fieldset className="ms-auto flex flex-wrap items-center gap-2 max-sm:ms-0">
      <legend className="sr-only">{t('sampleFor', { id })}</legend>
      <span className="text-12 text-ink-3" aria-hidden>
        {t('samples')}
      </span>
      {placeholders.map((index) => (
        <Input
          key={index}
          aria-label={t('sample', { placeholder: `{${index}}` })}
          before={<span translate="no" className="mono shrink-0 text-brand-text">{`{${index}}`}</span>}
          value={samples[index] ?? ''}
          onChange={(event) => onSample(index, event.target.value)}
          className="w-36"
        />
      ))}
    </fieldset>
  );
}
