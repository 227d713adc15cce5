'use client';

import { Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { MenuCheckboxItem, MenuLabel, MenuSeparator } from '#app/_ui/dropdown-menu.tsx';
import { columnNames, type TableLook } from './columns.ts';

export interface ColumnChoicesProps {
  look: TableLook;
  onChange(look: TableLook): void;
}

/** The contents of the column menu. */
export function ColumnChoices({ look, onChange }: ColumnChoicesProps) {
  const { t } = useTranslation('vms');
  return (
    <>
      <MenuLabel>{t('columns')}</MenuLabel>
      <MenuCheckboxItem checked disabled>
        <span className="flex-1">{t('column.name')}</span>
        <Lock aria-hidden />
      </MenuCheckboxItem>
      {columnNames.map((name) => (
        <MenuCheckboxItem
          key={name}
          checked={look.columns.includes(name)}
          onCheckedChange={(checked) =>
            onChange({
              ...look,
              columns: columnNames.filter((other) => (other === name ? checked : look.columns.includes(other))),
            })
          }
        >
          {t(`column.${name}`)}
        </MenuCheckboxItem>
      ))}
      <MenuLabel className="max-w-56 font-normal md:hidden">{t('columns.fitting')}</MenuLabel>
      <MenuSeparator />
      <MenuCheckboxItem
        checked={look.compact}
        onCheckedChange={(compact) => onChange({ ...look, compact: compact === true })}
      >
        {t('columns.compact')}
      </MenuCheckboxItem>
    </>
  );
}
