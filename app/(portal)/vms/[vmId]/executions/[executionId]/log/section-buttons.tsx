'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { sectionOf, sectionRows } from './sections.ts';

export interface SectionButtonsProps {
  total: number;
  section: number;
  onShow(section: number): void;
}

/** Buttons for the sections of a very long log. */
export function SectionButtons({ total, section, onShow }: SectionButtonsProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const count = sectionOf(Math.max(0, total - 1)) + 1;
  if (count === 1) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div role="group" aria-label={t('log.sections')} className="flex flex-wrap gap-1 px-4 pb-2">
      {Array.from({ length: count }, (_, index) => (
        <Button
          // biome-ignore lint/suspicious/noArrayIndexKey: a section is identified by its number
          key={index}
          size="sm"
          variant="ghost"
          aria-pressed={index === section}
          onClick={() => onShow(index)}
          className="tabular-nums aria-pressed:bg-press"
        >
          {format.number(index * sectionRows + 1)}–{format.number(Math.min(total, (index + 1) * sectionRows))}
        </Button>
      ))}
    </div>
  );
}
