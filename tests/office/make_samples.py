"""Makes small documents with the programs that users have: python-docx, python-pptx, openpyxl, odfpy, ebooklib.

usage: make_samples.py DIR
"""
import pathlib
import sys

import docx
import openpyxl
import openpyxl.comments
import pptx
from ebooklib import epub
from odf.opendocument import OpenDocumentText
from odf.style import Style, TextProperties
from odf.text import A, H, Note, NoteBody, NoteCitation, P, S, Span


def make_docx(path):
    document = docx.Document()
    document.add_heading("A short letter", 1)
    paragraph = document.add_paragraph("The dog runs in the ")
    paragraph.add_run("deep").bold = True
    paragraph.add_run(" snow. Two men ")
    paragraph.add_run("play").italic = True
    paragraph.add_run(" football & drink tea.")
    document.add_paragraph("First point", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ["Name", "Price", "A red ball", "12.50"]):
        cell.text = text
    document.sections[0].header.paragraphs[0].text = "The header of the letter"
    document.sections[0].footer.paragraphs[0].text = "Left\tRight side"
    lines = document.add_paragraph("One line")
    lines.add_run().add_break()
    lines.add_run("and another line.")
    document.save(path)


def make_pptx(path, notes=True):
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "The dog and the snow"
    frame = slide.placeholders[1].text_frame
    frame.text = "A dog runs."
    paragraph = frame.add_paragraph()
    for text, bold in (("Two ", None), ("men", True), (" play.", None)):
        run = paragraph.add_run()
        run.text, run.font.bold = text, bold
    if notes:
        slide.notes_slide.notes_text_frame.text = "A note for the speaker."
    else:  # a small file: without what python-pptx's template has besides
        for layout in list(slides.slide_layouts):
            if layout.name != slide.slide_layout.name:
                slides.slide_layouts.remove(layout)
        package = slides.part.package
        for part, name in ((slides.part, "printerSettings"), (package, "thumbnail")):
            for number in [n for n, r in part._rels.items() if r.reltype.endswith(name)]:
                part._rels.pop(number)
    slides.save(path)


def make_xlsx(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prices"
    for row in (["Name", "Price"], ["A red ball", 12.5], ["=A2", "=SUM(B2:B2)"], ["two\nlines", "No & yes"]):
        sheet.append(row)
    sheet["A2"].comment = openpyxl.comments.Comment("This ball is sold.", "Ann")
    book.save(path)


def make_odt(path):
    document = OpenDocumentText()
    bold = Style(name="Bold", family="text")
    bold.addElement(TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    document.text.addElement(H(outlinelevel=1, text="A short letter"))
    paragraph = P(text="The dog runs in the ")
    paragraph.addElement(Span(stylename=bold, text="deep"))
    paragraph.addText(" snow")
    note = Note(noteclass="footnote", id="n1")
    note.addElement(NoteCitation(text="1"))
    body = NoteBody()
    body.addElement(P(text="The snow of yesterday."))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(". See ")
    paragraph.addElement(A(type="simple", href="http://example.org/", text="this page"))
    paragraph.addText(".")
    paragraph.addElement(S(c=2))
    paragraph.addText("Two men play.")
    document.text.addElement(paragraph)
    document.save(path)


def make_epub(path):
    book = epub.EpubBook()
    book.set_identifier("tril-sample")
    book.set_title("The dog in the snow")
    book.set_language("en")
    chapter = epub.EpubHtml(title="First chapter", file_name="first.xhtml", lang="en")
    chapter.content = "<h1>First chapter</h1><p>The dog runs in the <b>deep</b> snow. Two men play.</p>"
    book.add_item(chapter)
    book.toc = (epub.Link("first.xhtml", "First chapter", "c1"),)
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = ["nav", chapter]
    epub.write_epub(str(path), book)


def make(directory):
    """The paths of what is made."""
    makers = {"letter.docx": make_docx, "slides.pptx": make_pptx, "prices.xlsx": make_xlsx, "letter.odt": make_odt,
              "book.epub": make_epub}
    for name, maker in makers.items():
        maker(directory / name)
    return [directory / name for name in makers]


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
