'use client';

import { Languages } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CardHeader } from '#app/_ui/card.tsx';
import { FileButton } from '../../../file-button.tsx';
import { AddLanguage } from './add-forms.tsx';
import type { EditedMessages } from './use-messages.ts';

export interface MessagesHeaderProps {
  messages: EditedMessages;
  mayEdit: boolean;
  /** Opens the XLIFF export; undefined if there are no English messages, because they are the source of the export. */
  onExport: (() => void) | undefined;
  onAddLanguage(lang: string): void;
  isUploading: boolean;
  onFiles(files: readonly File[]): void;
}

export function MessagesHeader({ messages, mayEdit, onExport, ...props }: MessagesHeaderProps) {
  const { t } = useTranslation('localization');
  const { ids, languages } = messages;
  return (
    <CardHeader
      title={t('messages')}
      note={
        ids.length === 0
          ? undefined
          : `${t('ids', { count: ids.length })}, ${t('languages', { count: languages.length })}`
      }
      actions={
        <>
          {mayEdit ? <AddLanguage known={languages} onAdd={props.onAddLanguage} /> : null}
          {onExport === undefined ? null : (
            <Button size="sm" onClick={onExport}>
              <Languages aria-hidden />
              {t('xliff.export')}
            </Button>
          )}
          {mayEdit ? (
            <FileButton
              accept=".json,application/json,.xlf,.xliff,application/xliff+xml"
              multiple
              label={t('choose')}
              busy={props.isUploading}
              onFiles={props.onFiles}
            />
          ) : null}
        </>
      }
    />
  );
}
