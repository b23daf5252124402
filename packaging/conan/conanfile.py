# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""A recipe for Conan 2, of the tree that contains it:

    conan create asio-wheel/packaging/conan --build=missing -s compiler.cppstd=20

Not tried with Conan itself. CI runs this file with stand-ins for Conan's classes, which do what
their documentation says: see packaging/test/conan.
"""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir


class AsioWheel(ConanFile):
    name = "asio-wheel"
    version = "0.2.0"
    description = "Timers on a hashed timing wheel for Boost.Asio"
    license = "BSL-1.0"
    topics = ("timer", "timing-wheel", "asio", "timeout")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, os.pardir, os.pardir)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, src=tree, dst=self.export_sources_folder)

    def requirements(self):
        # Users compile against Boost's headers. Nothing of Boost is linked.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True, libs=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os == "Windows" and self.options.shared:
            raise ConanInvalidConfiguration("on Windows, asio-wheel is a static library")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BUILD_TESTING"] = False
        toolchain.cache_variables["ASIO_WHEEL_INSTALL_DOCS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder,
             dst=os.path.join(self.package_folder, "licenses"))
        # Conan generates what CMake and pkg-config need.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "asio_wheel")
        self.cpp_info.set_property("cmake_target_name", "asio_wheel::asio_wheel")
        self.cpp_info.set_property("pkg_config_name", "asio_wheel")
        self.cpp_info.libs = ["asio_wheel"]
        self.cpp_info.requires = ["boost::headers"]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
        elif self.settings.os == "Windows":
            self.cpp_info.system_libs = ["ws2_32", "mswsock"]
