'use client';

import { Clock, Download, WrapText } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { LevelFilter, ShownLog } from './shown-log.ts';

/** The display options of a log. */
export interface LogView {
  level: LevelFilter | 'all';
  wraps: boolean;
  /** Whether to show the time of day instead of the time since the beginning. */
  showsClock: boolean;
}

export interface LogToolsProps {
  log: Pick<ShownLog, 'levels' | 'download'>;
  view: LogView;
  onChange(view: LogView): void;
}

/** The controls for the display options of a log, and the download. */
export function LogTools({ log: { levels, download }, view, onChange }: LogToolsProps) {
  const { t } = useTranslation('executions');
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
      <Segmented
        label={t('log.level')}
        value={view.level}
        onChange={(level) => onChange({ ...view, level })}
        options={(['all', ...levels] as const).map((level) => ({ value: level, label: t(`log.level.show.${level}`) }))}
        className="max-w-full overflow-x-auto *:shrink-0"
      />
      <span className="ms-auto flex items-center gap-1">
        <IconButton
          size="sm"
          variant="ghost"
          label={t('log.wrap')}
          aria-pressed={view.wraps}
          onClick={() => onChange({ ...view, wraps: !view.wraps })}
          className="aria-pressed:bg-press"
        >
          <WrapText aria-hidden />
        </IconButton>
        <IconButton
          size="sm"
          variant="ghost"
          label={t('log.clock')}
          aria-pressed={view.showsClock}
          onClick={() => onChange({ ...view, showsClock: !view.showsClock })}
          className="aria-pressed:bg-press max-sm:hidden"
        >
          <Clock aria-hidden />
        </IconButton>
        <Button asChild size="sm" variant="ghost">
          <a href={download} download>
            <Download aria-hidden />
            {t('log.download')}
          </a>
        </Button>
      </span>
    </div>
  );
}
