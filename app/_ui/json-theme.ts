import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { jsonLineHeight, jsonPadding } from './json-height.ts';

export const theme = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: `${jsonLineHeight}px`, letterSpacing: '-0.01em' },
  '.cm-content': { padding: `${jsonPadding.top}px 0 ${jsonPadding.bottom}px`, caretColor: 'var(--text)' },
  // `focusFrame` draws the focus ring, because the scrolling container would cut off a ring around the text.
  '.cm-content:focus-visible': { boxShadow: 'none' },
  '.cm-line': { padding: '0 16px 0 4px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 10px 0 4px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--brand-tint)',
  },
  '.cm-active-setting': { backgroundColor: 'var(--press)' },
  '.cm-bad-setting': { backgroundColor: 'var(--failed-tint)' },
  '.cm-doubtful-setting': { backgroundColor: 'var(--warning-tint)' },
});

export const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--brand-text)' },
  { tag: tags.string, color: 'var(--healthy-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--progressing-text)' },
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--brand-text)' },
  { tag: tags.comment, color: 'var(--text-3)' },
]);

/** Classes of the element around an editor: a focus ring above the text, so that tinted lines do not hide it. */
export const focusFrame =
  'relative after:pointer-events-none after:absolute after:inset-0 after:z-1 has-[.cm-content:focus-visible]:after:outline-2 has-[.cm-content:focus-visible]:after:-outline-offset-2 has-[.cm-content:focus-visible]:after:outline-brand-text';
