'use client';

import { Check, Copy, Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { saveFile } from '#app/_lib/save-file.ts';
import { Button } from '#app/_ui/button.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { copyText } from '#app/_ui/copy-text.ts';
import { ControlRow } from '#app/_ui/field.tsx';

/** Shows new recovery codes to copy or download. The reader must confirm that they are saved. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const { t } = useTranslation(['account', 'common']);
  const [isKept, setKept] = useState(false);
  const [copied, setCopied] = useState(false);
  const text = `${codes.join('\n')}\n`;

  const download = () => saveFile('annex-recovery-codes.txt', text, 'text/plain');

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <ul
        aria-label={t('account:codes')}
        className="mono grid grid-cols-2 gap-x-6 gap-y-1 rounded-md bg-sunken px-4 py-3 shadow-hair-subtle"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => void copyText(text).then(setCopied)}>
          {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
          {t('common:copy')}
        </Button>
        <Button onClick={download}>
          <Download aria-hidden />
          {t('account:codes.download')}
        </Button>
        <span role="status" className="sr-only">
          {copied ? t('common:copied') : ''}
        </span>
      </div>
      <ControlRow control={<Checkbox checked={isKept} onCheckedChange={(checked) => setKept(checked === true)} />}>
        {t('account:codes.kept')}
      </ControlRow>
      <Button variant="primary" disabled={!isKept} className="h-9 w-full" onClick={onDone}>
        {t('account:codes.done')}
      </Button>
    </div>
  );
}
