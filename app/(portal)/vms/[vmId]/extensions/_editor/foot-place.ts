/** Where a page keeps a place for the editor's acts, below everything that scrolls. */
export const footId = 'editor-foot';
