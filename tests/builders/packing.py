"""Archives of members given as {name: bytes}."""

import io
import tarfile
import zipfile


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    """Return a tar; `mode` as for `tarfile.open`, such as `w:gz`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    """Return a zip of deflated members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()
