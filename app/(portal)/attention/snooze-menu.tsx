'use client';

import { BellOff } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import { useMarks } from './use-marks.ts';

const SnoozeDialog = dynamic(() => import('./snooze-dialog.tsx').then((module) => module.SnoozeDialog), { ssr: false });

const hourMs = 3_600_000;
const lengths = [
  ['snooze.hour', 1],
  ['snooze.hours', 4],
  ['snooze.day', 24],
  ['snooze.week', 168],
] as const;

interface SnoozeMenuProps {
  group: AttentionGroup;
  /** The id of the problem's title. */
  labelledBy: string;
}

/** A menu that snoozes a problem for some time, until a time, or until the problem changes. */
export function SnoozeMenu({ group, labelledBy }: SnoozeMenuProps) {
  const { t } = useTranslation('attention');
  const marks = useMarks();
  const id = useId();
  const [isChoosing, setIsChoosing] = useState(false);
  const { key, snooze } = group;
  return (
    <>
      <LazyMenu
        trigger={
          <Button size="sm" id={id} aria-labelledby={`${id} ${labelledBy}`} className="max-lg:[&>svg]:hidden">
            <BellOff aria-hidden />
            {t('snooze')}
          </Button>
        }
      >
        {({ MenuItem, MenuSeparator }) => (
          <>
            {lengths.map(([word, hours]) => (
              <MenuItem key={word} onSelect={() => marks.snooze(key, new Date(Date.now() + hours * hourMs))}>
                {t(word)}
              </MenuItem>
            ))}
            <MenuItem onSelect={() => setIsChoosing(true)}>{t('snooze.at')}</MenuItem>
            <MenuItem title={t('snooze.change.what')} onSelect={() => marks.snooze(key, null)}>
              {t('snooze.change')}
            </MenuItem>
            {snooze === null ? null : (
              <>
                <MenuSeparator />
                <MenuItem onSelect={() => marks.unsnooze(key)}>{t('snooze.end')}</MenuItem>
              </>
            )}
          </>
        )}
      </LazyMenu>
      {isChoosing ? (
        <SnoozeDialog
          onClose={() => setIsChoosing(false)}
          onChoose={(until) => {
            marks.snooze(key, until);
            setIsChoosing(false);
          }}
        />
      ) : null}
    </>
  );
}
