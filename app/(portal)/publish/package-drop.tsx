'use client';

import { FileArchive, Upload } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { FileButton } from '../handlers/file-button.tsx';
import { useFileDrop } from '../handlers/use-file-drop.ts';

export interface PackageDropProps {
  file: File | undefined;
  /** Maximum size in bytes. */
  limit: number;
  isZip: boolean;
  refused: boolean;
  onFile(file: File): void;
}

/** A drop zone for the package, which shows the chosen file. */
export function PackageDrop({ file, limit, isZip, refused, onFile }: PackageDropProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const take = (files: readonly File[]) => {
    const [first] = files;
    if (first) onFile(first);
  };
  const [over, dropProps] = useFileDrop(take);
  const isTooLarge = file !== undefined && file.size > limit;
  return (
    <Card
      {...dropProps}
      className={cn(
        'flex flex-wrap items-center gap-4 p-4',
        file === undefined &&
          'min-h-44 flex-col justify-center border border-dashed border-line-control text-center shadow-none',
        over && 'shadow-focus',
      )}
    >
      <span className="grid size-10 shrink-0 place-items-center rounded-md bg-brand-tint text-brand-text">
        {file === undefined ? (
          <Upload aria-hidden className="size-5" />
        ) : (
          <FileArchive aria-hidden className="size-5" />
        )}
      </span>
      <div className={cn('grid min-w-0 gap-0.5', file !== undefined && 'flex-1 basis-64')}>
        <p translate={file === undefined ? undefined : 'no'} className="min-w-0 font-medium wrap-anywhere">
          {file === undefined ? t('drop.title') : file.name}
        </p>
        <p className="text-12 text-balance text-ink-3">
          {file === undefined ? t('drop.why', { limit: format.bytes(limit) }) : format.bytes(file.size)}
        </p>
        {isZip ? null : <FieldError>{t('drop.notZip')}</FieldError>}
        {isTooLarge ? <FieldError>{t('drop.tooLarge', { limit: format.bytes(limit) })}</FieldError> : null}
      </div>
      <FileButton
        size="default"
        variant={file === undefined || refused ? 'primary' : 'default'}
        accept=".zip,application/zip"
        label={t(file === undefined ? 'drop.choose' : 'drop.another')}
        onFiles={take}
      />
    </Card>
  );
}
