'use client';

import { Columns3, Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { columnNames, type TableLook } from './columns.ts';

export interface ColumnMenuProps {
  look: TableLook;
  onChange(look: TableLook): void;
}

/** A menu for the table's columns and density, which the browser stores. */
export function ColumnMenu({ look, onChange }: ColumnMenuProps) {
  const { t } = useTranslation('vms');
  return (
    <LazyMenu
      trigger={
        <Button size="sm" className="max-sm:hidden">
          <Columns3 aria-hidden />
          {t('columns')}
        </Button>
      }
    >
      {({ MenuCheckboxItem, MenuLabel, MenuSeparator }) => (
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
      )}
    </LazyMenu>
  );
}
